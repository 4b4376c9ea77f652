//! Reads friction problems from text files. Shared by the test and the example.

use std::path::{Path, PathBuf};

/// `W` row-major with three rows per contact, `q`, and the coefficients of friction.
pub type Contacts = (Vec<f64>, Vec<f64>, Vec<f64>);

/// Returns the problem files of a folder, sorted by name. Empty if there is no such folder.
pub fn list(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "dat"))
        .collect();
    files.sort();
    files
}

/// Reads one problem; 2D contacts get a third row of zeros. `None` if it does not parse.
pub fn read(path: &Path) -> Option<Contacts> {
    let text = std::fs::read_to_string(path).ok()?;
    let mut words = text.split_whitespace();
    let mut count = || words.next()?.parse::<usize>().ok();
    let (dimension, contacts, storage) = (count()?, count()?, count()?);
    let (rows, columns) = (count()?, count()?);
    if !(2..=3).contains(&dimension) || rows != dimension * contacts || columns != rows {
        return None;
    }
    let n = 3 * contacts;
    let place = |i: usize| i / dimension * 3 + i % dimension;
    let mut w = vec![0.0; n * n];
    if storage == 0 {
        count()?; // rows and columns, repeated
        count()?;
        for i in 0..rows {
            for j in 0..columns {
                w[place(i) * n + place(j)] = words.next()?.parse().ok()?;
            }
        }
    } else {
        let (blocks, down, across) = (count()?, count()?, count()?);
        for _ in 0..down + across {
            count()?;
        }
        let (starts, indices) = (count()?, count()?);
        if down != contacts || across != contacts || starts != down + 1 || indices != blocks {
            return None;
        }
        let starts = (0..starts).map(|_| count()).collect::<Option<Vec<usize>>>()?;
        let indices = (0..indices).map(|_| count()).collect::<Option<Vec<usize>>>()?;
        for row in 0..down {
            for &column in indices.get(starts[row]..starts[row + 1])? {
                words.next()?; // number of elements in the block
                for k in 0..dimension * dimension {
                    let (i, j) = (3 * row + k % dimension, 3 * column + k / dimension);
                    *w.get_mut(i * n + j)? = words.next()?.parse().ok()?;
                }
            }
        }
    }
    let mut q = vec![0.0; n];
    for i in 0..rows {
        q[place(i)] = words.next()?.parse().ok()?;
    }
    let mu = (0..contacts).map(|_| words.next()?.parse().ok()).collect::<Option<Vec<f64>>>()?;
    Some((w, q, mu))
}
