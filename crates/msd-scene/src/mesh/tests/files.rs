//! A cube written in every format.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// A cube whose coordinates are exact in single precision.
pub(super) struct Cube {
    pub(super) corners: Vec<[f32; 3]>,
}

const FACES: [[usize; 3]; 12] = [
    [0, 1, 3],
    [0, 3, 2],
    [4, 6, 7],
    [4, 7, 5],
    [0, 4, 5],
    [0, 5, 1],
    [2, 3, 7],
    [2, 7, 6],
    [0, 2, 6],
    [0, 6, 4],
    [1, 5, 7],
    [1, 7, 3],
];

impl Cube {
    pub(super) fn new() -> Self {
        let side = |index: usize, bit: usize| if index & bit == 0 { -0.25 } else { 1.5 };
        Self { corners: (0..8).map(|i| [side(i, 1), side(i, 2), side(i, 4)]).collect() }
    }

    pub(super) fn obj(&self) -> Vec<u8> {
        let mut text = "# a cube\nmtllib cube.mtl\no cube\nvn 0 0 1\n".to_owned();
        for [x, y, z] in &self.corners {
            text += &format!("v {x} {y} {z}\r\n");
        }
        for face in FACES {
            let [a, b, c] = face.map(|corner| corner + 1);
            text += &format!("f {a}//1 {b}//1 -{}//-1\n", 9 - c);
        }
        text.into_bytes()
    }

    pub(super) fn stl_text(&self) -> Vec<u8> {
        let mut text = String::new();
        for (index, half) in FACES.chunks(6).enumerate() {
            text += if index == 0 { "solid\n" } else { "solid second half\n" };
            for face in half {
                text += "  facet normal 0 0 nan\n    outer loop\n";
                for corner in face {
                    let [x, y, z] = self.corners[*corner];
                    text += &format!("      vertex {x:e} {y:e} {z:e}\n");
                }
                text += "    endloop\n  endfacet\n";
            }
            text += "endsolid\n";
        }
        text.into_bytes()
    }

    pub(super) fn stl_binary(&self) -> Vec<u8> {
        let mut bytes = b"solid but binary".to_vec();
        bytes.resize(80, 0);
        bytes.extend((FACES.len() as u32).to_le_bytes());
        for face in FACES {
            bytes.extend([0; 12]);
            for number in face.iter().flat_map(|corner| self.corners[*corner]) {
                bytes.extend(number.to_le_bytes());
            }
            bytes.extend([7, 7]);
        }
        bytes
    }

    pub(super) fn ply(&self, encoding: &str) -> Vec<u8> {
        let mut bytes = format!(
            "ply\nformat {encoding} 1.0\ncomment a cube\n\
             element mark 2\nproperty list uchar short numbers\nproperty uchar z\n\
             element vertex 8\nproperty float x\nproperty double y\nproperty uchar color\n\
             property float z\nelement face 12\nproperty list uchar int vertex_indices\nend_header\n"
        )
        .into_bytes();
        if encoding == "ascii" {
            let mut text = "2 -5 6 1\n0 2\n".to_owned();
            for [x, y, z] in &self.corners {
                text += &format!("{x} {y} 255 {z:e}\n");
            }
            for [a, b, c] in FACES {
                text += &format!("3 {a} {b} {c}\n");
            }
            bytes.extend(text.into_bytes());
            return bytes;
        }
        let mut put = |mut number: Vec<u8>| {
            if encoding == "binary_little_endian" {
                number.reverse();
            }
            bytes.extend(number);
        };
        put(vec![2]);
        put((-5_i16).to_be_bytes().to_vec());
        put(6_i16.to_be_bytes().to_vec());
        put(vec![1]);
        put(vec![0]);
        put(vec![2]);
        for [x, y, z] in &self.corners {
            put(x.to_be_bytes().to_vec());
            put(f64::from(*y).to_be_bytes().to_vec());
            put(vec![255]);
            put(z.to_be_bytes().to_vec());
        }
        for face in FACES {
            put(vec![3]);
            for corner in face {
                put((corner as i32).to_be_bytes().to_vec());
            }
        }
        bytes
    }

    /// A glTF buffer: 4 bytes of padding, then the lower corners as they are and the upper ones moved down by
    /// 1.75, each followed by 4 bytes of padding.
    pub(super) fn buffer(&self) -> Vec<u8> {
        let mut bytes = vec![1; 4];
        for [x, y, z] in &self.corners {
            for number in [*x, *y, if *z > 0.0 { z - 1.75 } else { *z }] {
                bytes.extend(number.to_le_bytes());
            }
            bytes.extend([1; 4]);
        }
        bytes
    }

    /// A document whose nodes move the upper corners back up.
    pub(super) fn document(&self, uri: &str) -> String {
        let uri = if uri.is_empty() { String::new() } else { format!(r#""uri": "{uri}","#) };
        format!(
            r#"{{"asset": {{"version": "2.0"}}, "scene": 0,
  "scenes": [{{"nodes": [0, 1]}}],
  "nodes": [{{"mesh": 0}}, {{"children": [2],
    "matrix": [1,0,0,0, 0,1,0,0, 0,0,1,0, 0,0,1.25,1]}},
    {{"mesh": 1, "translation": [0, 0, 0.5]}}],
  "meshes": [
    {{"primitives": [{{"attributes": {{"POSITION": 0, "NORMAL": 0}}}}]}},
    {{"primitives": [{{"attributes": {{"POSITION": 1}}}}, {{"attributes": {{"POSITION": 1}}}}]}}],
  "accessors": [
    {{"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3"}},
    {{"bufferView": 0, "byteOffset": 64, "componentType": 5126, "count": 4, "type": "VEC3"}}],
  "bufferViews": [{{"buffer": 0, "byteOffset": 4, "byteLength": 128, "byteStride": 16}}],
  "buffers": [{{{uri} "byteLength": 132}}]}}"#
        )
    }

    pub(super) fn data_uri(&self) -> String {
        format!("data:application/octet-stream;base64,{}", STANDARD.encode(self.buffer()))
    }

    pub(super) fn gltf(&self) -> Vec<u8> {
        self.document(&self.data_uri()).into_bytes()
    }

    pub(super) fn glb(&self) -> Vec<u8> {
        let mut document = self.document("").into_bytes();
        document.resize(document.len().next_multiple_of(4), b' ');
        glb(&[(b"JSON", &document), (b"BIN\0", &self.buffer()), (b"MORE", b"....")])
    }
}

/// A binary glTF file with these chunks.
pub(super) fn glb(chunks: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
    let mut body = Vec::new();
    for (kind, content) in chunks {
        body.extend((content.len() as u32).to_le_bytes());
        body.extend(*kind);
        body.extend(*content);
    }
    let mut bytes = b"glTF\x02\0\0\0".to_vec();
    bytes.extend((body.len() as u32 + 12).to_le_bytes());
    bytes.extend(body);
    bytes
}
