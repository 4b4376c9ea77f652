//! The report of a run: a self-contained HTML page that draws its embedded data.

mod picture;

use serde::{Serialize, Serializer};

use crate::scales::Rounding;
use crate::totals::Terms;
use crate::verdict::{Check, Verdict};

pub use picture::{Album, Picture};

/// The data of the page. Every series has the length of `time`; a non-finite value is a gap.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ReportData {
    /// Title of the scene.
    pub title: String,
    /// Name and version of the engine.
    pub engine: String,
    /// File name of the recording.
    pub recording: String,
    /// Description of the scene; may be empty.
    pub description: String,
    /// Labels and values of the summary, in order: "time step", "16.67 ms".
    pub facts: Vec<(String, String)>,
    /// Worst verdict and one sentence on all checks.
    pub conclusion: (Verdict, String),
    /// Notes on the scene that question what the checks measured.
    pub notes: Vec<String>,
    /// Checks, in order.
    pub checks: Vec<Check>,
    /// Pictures of steps, in order.
    pub pictures: Vec<Picture>,
    /// Times of the samples, s, ascending.
    pub time: Vec<f64>,
    /// Steps of the samples, ascending.
    pub step: Vec<u64>,
    /// Energy ledger.
    pub energy: Terms<Vec<f64>>,
    /// Reference energy of the plots, J: the energy axis spans at least a thousandth of it.
    pub energy_scale: f64,
    /// Rounding of the figures of a step: what is less is not worth a plot.
    pub rounding: Rounding,
    /// Half of the least width of a body, m: what moved by a billionth of it is not worth a plot.
    pub length_scale: f64,
    /// Energy error of the ledger of a step, J; either sign.
    pub energy_error: Vec<f64>,
    /// Magnitude of the momentum error of a step, N s.
    pub momentum_error: Vec<f64>,
    /// Largest contact force between two bodies, N.
    pub force: Vec<f64>,
    /// Deepest overlap, m.
    pub penetration: Vec<f64>,
    /// Largest position error of a joint, m.
    pub joint_error: Vec<f64>,
    /// Relative residual of the solver.
    pub residual: Vec<f64>,
    /// Number of contacts.
    pub contacts: Vec<u32>,
    /// Number of solver iterations.
    pub iterations: Vec<f64>,
    /// Number of islands.
    pub islands: Vec<f64>,
    /// Bodies that can be drawn: the page starts with the first eight.
    pub bodies: Vec<BodySeries>,
    /// Number of inertial bodies in the scene, drawn or not.
    pub bodies_total: usize,
    /// Marks on the time axis.
    pub events: Vec<Mark>,
    /// Note on the steps that are drawn; may be empty.
    pub samples_note: String,
}

/// The motion of one body, rounded to a millionth of its largest value: plots need no more.
#[derive(Debug, Clone, Default, Serialize)]
pub struct BodySeries {
    /// Name of the body.
    pub name: String,
    /// Height of its center of mass, m.
    #[serde(serialize_with = "rounded")]
    pub height: Vec<f64>,
    /// Horizontal distance from the start, m.
    #[serde(serialize_with = "rounded")]
    pub drift: Vec<f64>,
    /// Speed of its center of mass, m/s.
    #[serde(serialize_with = "rounded")]
    pub speed: Vec<f64>,
    /// Angular speed, rad/s.
    #[serde(serialize_with = "rounded")]
    pub spin: Vec<f64>,
    /// Angle between its vertical axis at the start and the vertical, degrees.
    #[serde(serialize_with = "rounded")]
    pub tilt: Vec<f64>,
}

/// An event at a point in time.
#[derive(Debug, Clone, Serialize)]
pub struct Mark {
    /// Time, s.
    pub time: f64,
    /// Step.
    pub step: u64,
    /// "hit" or "quarantined"; each has its symbol.
    pub kind: String,
    /// Description of the event.
    pub text: String,
}

/// Builds the page. It loads nothing from the network, and text from `data` is never markup.
pub fn html(data: &ReportData) -> String {
    // Non-finite numbers become null; strings cannot fail.
    let json = serde_json::to_string(data).expect("a report has no maps and no foreign types");
    let json = escape_script(&json);
    let title = escape_html(&data.title);
    let script =
        [include_str!("scale.js"), include_str!("charts.js"), include_str!("page.js")].concat();
    let css = include_str!("page.css");
    fill(include_str!("page.html"), |name| match name {
        "title" => &title,
        "css" => css,
        "data" => &json,
        "js" => &script,
        _ => unreachable!("the template has no placeholder {name}"),
    })
}

/// Replaces each `{{name}}` of a template. Inserted text is not scanned again.
fn fill<'a>(template: &'a str, part: impl Fn(&str) -> &'a str) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) =
            after.split_once("}}").expect("placeholders in the template are closed");
        out.push_str(before);
        out.push_str(part(name));
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Escapes the characters of JSON that could end a script element. They occur only in strings, where the escape
/// has the same meaning.
fn escape_script(json: &str) -> String {
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

/// Escapes text for the content of an element.
fn escape_html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Serializes values rounded to a millionth of the largest.
fn rounded<S: Serializer>(values: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
    let largest = values.iter().filter(|v| v.is_finite()).fold(0.0_f64, |m, v| m.max(v.abs()));
    let decimals = 6 - largest.log10().ceil().clamp(-200.0, 200.0) as i32;
    let unit = 10.0_f64.powi(decimals.abs());
    serializer.collect_seq(values.iter().map(|&v| {
        // Dividing by a power of ten, not multiplying by its inverse, keeps the decimals short.
        if decimals >= 0 { (v * unit).round() / unit } else { (v / unit).round() * unit }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the data embedded in a page.
    fn embedded(page: &str) -> serde_json::Value {
        let open = r#"<script type="application/json" id="data">"#;
        let (_, rest) = page.split_once(open).unwrap();
        let (json, _) = rest.split_once("</script>").unwrap();
        serde_json::from_str(json).unwrap()
    }

    fn body(name: &str, height: &[f64]) -> BodySeries {
        BodySeries { name: name.into(), height: height.into(), ..Default::default() }
    }

    #[test]
    fn hostile_strings_stay_inert() {
        let hostile = "</script><script>alert(1)</script><!--<b>&amp; \" ' {{css}} \u{2028}";
        let text = || hostile.to_string();
        let data = ReportData {
            title: text(),
            engine: text(),
            recording: text(),
            description: text(),
            facts: vec![(text(), text())],
            conclusion: (Verdict::Fail, text()),
            notes: vec![text()],
            checks: vec![Check {
                name: text(),
                verdict: Verdict::Fail,
                message: text(),
                step: Some(1),
                bodies: vec![text()],
            }],
            bodies: vec![body(hostile, &[1.0])],
            events: vec![Mark { time: 0.0, step: 0, kind: text(), text: text() }],
            samples_note: text(),
            ..Default::default()
        };
        let page = html(&data);
        let harmless = html(&ReportData::default());
        for tag in ["<script", "</script", "<b>", "<!--"] {
            assert_eq!(page.matches(tag).count(), harmless.matches(tag).count(), "{tag}");
        }
        // The text itself is kept.
        let read = embedded(&page);
        assert_eq!(read["title"], hostile);
        assert_eq!(read["bodies"][0]["name"], hostile);
        assert_eq!(read["checks"][0]["verdict"], "fail");
        assert_eq!(read["facts"][0][1], hostile);
    }

    #[test]
    fn non_finite_numbers_become_null() {
        let values = vec![1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
        let data = ReportData {
            time: vec![0.0, 1.0, 2.0, 3.0],
            penetration: values.clone(),
            energy: Terms { kinetic: values.clone(), ..Default::default() },
            bodies: vec![body("a", &values)],
            ..Default::default()
        };
        let read = embedded(&html(&data));
        let expected = serde_json::json!([1.0, null, null, null]);
        assert_eq!(read["penetration"], expected);
        assert_eq!(read["energy"]["kinetic"], expected);
        assert_eq!(read["bodies"][0]["height"], expected);
    }

    #[test]
    fn the_motion_of_a_body_is_rounded_to_a_millionth_of_its_largest_value() {
        let short = |values: &[f64]| serde_json::to_string(&body("a", values)).unwrap();
        assert!(short(&[2.0 / 3.0, 1e-9, -1.0]).contains("[0.666667,0.0,-1.0]"));
        assert!(short(&[1234.567890123]).contains("[1234.57]"));
        assert!(short(&[1234567890123.0]).contains("[1234570000000.0]"));
        assert!(short(&[1.23456789e-9]).contains("[1.23457e-9]"));
        assert!(short(&[0.0, 0.0]).contains("[0.0,0.0]"));
        assert!(short(&[f64::NAN]).contains("[null]"));
        for extreme in [f64::MAX, f64::MIN_POSITIVE, 5e-324] {
            let text = short(&[extreme, -extreme]);
            assert!(!text.contains("null"), "{text}");
        }
    }

    #[test]
    fn the_page_loads_nothing_from_the_network() {
        let page = html(&ReportData::default());
        for reference in ["http://", "https://", "//cdn", "@import", "url(", " src="] {
            assert!(!page.contains(reference), "{reference}");
        }
    }

    #[test]
    fn every_placeholder_of_the_template_is_replaced() {
        let page = html(&ReportData { title: "A title".into(), ..Default::default() });
        for name in ["title", "css", "data", "js"] {
            assert!(!page.contains(&format!("{{{{{name}}}}}")), "{name}");
        }
        assert!(page.contains("<title>A title</title>"));
        assert!(page.trim_end().ends_with("</html>"));
    }
}
