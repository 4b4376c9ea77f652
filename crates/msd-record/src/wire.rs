//! The subset of protobuf that recordings need: [`message!`] declares a message once and generates its struct, its
//! encoding and its descriptor.
//!
//! Every field is written even if it is zero: encoders that omit zeros lose the sign of -0.0.

use crate::bytes::{Bytes, Malformed};

/// A protobuf message.
pub(crate) trait Message: Default {
    /// Package and name.
    const NAME: &'static str;

    fn put_fields(&self, out: &mut Vec<u8>);

    /// Reads the field with this number, or skips it if it is unknown.
    fn take_field(&mut self, number: u64, wire: u64, from: &mut Bytes<'_>)
    -> Result<(), Malformed>;

    /// Adds the descriptors of this message and of its nested messages, once each.
    fn describe(to: &mut Vec<Description>);
}

/// The `DescriptorProto` of one message.
pub(crate) struct Description {
    pub(crate) name: &'static str,
    pub(crate) bytes: Vec<u8>,
}

/// A type of a field.
pub(crate) trait Field: Default {
    /// Value of `FieldDescriptorProto.Type`.
    const TYPE: u64;
    const IS_REPEATED: bool = false;
    /// Full name of the type, if it is a message or an enum.
    const TYPE_NAME: Option<&'static str> = None;

    fn put(&self, number: u64, out: &mut Vec<u8>);
    fn take(&mut self, wire: u64, from: &mut Bytes<'_>) -> Result<(), Malformed>;
    fn describe(_to: &mut Vec<Description>) {}
}

/// Appends the encoded message.
pub(crate) fn encode<M: Message>(message: &M, out: &mut Vec<u8>) {
    message.put_fields(out);
}

pub(crate) fn decode<M: Message>(bytes: &[u8]) -> Result<M, Malformed> {
    let mut message = M::default();
    let mut from = Bytes(bytes);
    while !from.is_empty() {
        let tag = from.varint()?;
        message.take_field(tag >> 3, tag & 7, &mut from)?;
    }
    Ok(message)
}

const VARINT: u64 = 0;
const FIXED64: u64 = 1;
const LENGTH: u64 = 2;
const FIXED32: u64 = 5;

/// Tag of an integer field with number 1.
pub(crate) const FIRST_INTEGER: u64 = 1 << 3 | VARINT;

pub(crate) fn skip(wire: u64, from: &mut Bytes<'_>) -> Result<(), Malformed> {
    match wire {
        VARINT => from.varint().map(drop),
        FIXED64 => from.u64().map(drop),
        FIXED32 => from.u32().map(drop),
        LENGTH => block(wire, from).map(drop),
        _ => Err(Malformed("a field of an unknown wire type")),
    }
}

fn expect(wire: u64, wanted: u64) -> Result<(), Malformed> {
    if wire == wanted { Ok(()) } else { Err(Malformed("a field of the wrong wire type")) }
}

fn block<'a>(wire: u64, from: &mut Bytes<'a>) -> Result<Bytes<'a>, Malformed> {
    expect(wire, LENGTH)?;
    let length = from.varint()?;
    from.take(length).map(Bytes)
}

fn put_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn put_tag(number: u64, wire: u64, out: &mut Vec<u8>) {
    put_varint(number << 3 | wire, out);
}

fn put_number(number: u64, value: u64, out: &mut Vec<u8>) {
    put_tag(number, VARINT, out);
    put_varint(value, out);
}

fn put_bytes(number: u64, bytes: &[u8], out: &mut Vec<u8>) {
    put_tag(number, LENGTH, out);
    put_varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

/// Writes the output of `fill` with its length in front.
fn put_block(number: u64, out: &mut Vec<u8>, fill: impl FnOnce(&mut Vec<u8>)) {
    put_tag(number, LENGTH, out);
    let start = out.len();
    fill(out);
    let end = out.len();
    put_varint((end - start) as u64, out);
    let prefix = out.len() - end;
    if let Some(written) = out.get_mut(start..) {
        written.rotate_right(prefix);
    }
}

macro_rules! integer {
    ($type:ty, $descriptor:literal) => {
        impl Field for $type {
            const TYPE: u64 = $descriptor;

            fn put(&self, number: u64, out: &mut Vec<u8>) {
                put_number(number, *self as u64, out);
            }

            fn take(&mut self, wire: u64, from: &mut Bytes<'_>) -> Result<(), Malformed> {
                expect(wire, VARINT)?;
                let value = from.varint()?;
                *self = Self::try_from(value).map_err(|_| Malformed("a number too large"))?;
                Ok(())
            }
        }
    };
}

integer!(i64, 3);
integer!(u64, 4);
integer!(i32, 5);
integer!(u32, 13);

impl Field for bool {
    const TYPE: u64 = 8;

    fn put(&self, number: u64, out: &mut Vec<u8>) {
        put_number(number, u64::from(*self), out);
    }

    fn take(&mut self, wire: u64, from: &mut Bytes<'_>) -> Result<(), Malformed> {
        expect(wire, VARINT)?;
        *self = from.varint()? != 0;
        Ok(())
    }
}

impl Field for f64 {
    const TYPE: u64 = 1;

    fn put(&self, number: u64, out: &mut Vec<u8>) {
        put_tag(number, FIXED64, out);
        out.extend_from_slice(&self.to_le_bytes());
    }

    fn take(&mut self, wire: u64, from: &mut Bytes<'_>) -> Result<(), Malformed> {
        expect(wire, FIXED64)?;
        *self = Self::from_bits(from.u64()?);
        Ok(())
    }
}

impl Field for String {
    const TYPE: u64 = 9;

    fn put(&self, number: u64, out: &mut Vec<u8>) {
        put_bytes(number, self.as_bytes(), out);
    }

    fn take(&mut self, wire: u64, from: &mut Bytes<'_>) -> Result<(), Malformed> {
        let bytes = block(wire, from)?.0;
        let text = std::str::from_utf8(bytes).map_err(|_| Malformed("text that is not UTF-8"))?;
        *self = text.to_owned();
        Ok(())
    }
}

/// Implements packed lists of fixed-size numbers.
macro_rules! column {
    ($type:ty, $size:literal, $descriptor:literal) => {
        impl Field for Vec<$type> {
            const TYPE: u64 = $descriptor;
            const IS_REPEATED: bool = true;

            fn put(&self, number: u64, out: &mut Vec<u8>) {
                put_tag(number, LENGTH, out);
                put_varint(self.len() as u64 * $size, out);
                out.reserve(self.len() * $size);
                for value in self {
                    out.extend_from_slice(&value.to_le_bytes());
                }
            }

            fn take(&mut self, wire: u64, from: &mut Bytes<'_>) -> Result<(), Malformed> {
                let (values, rest) = block(wire, from)?.0.as_chunks::<$size>();
                if !rest.is_empty() {
                    return Err(Malformed("a list that ends within a number"));
                }
                self.extend(values.iter().map(|bytes| <$type>::from_le_bytes(*bytes)));
                Ok(())
            }
        }
    };
}

column!(f64, 8, 1);
column!(u64, 8, 6);
column!(u32, 4, 7);

impl<M: Message> Field for M {
    const TYPE: u64 = 11;
    const TYPE_NAME: Option<&'static str> = Some(M::NAME);

    fn put(&self, number: u64, out: &mut Vec<u8>) {
        put_block(number, out, |out| self.put_fields(out));
    }

    fn take(&mut self, wire: u64, from: &mut Bytes<'_>) -> Result<(), Malformed> {
        *self = decode(block(wire, from)?.0)?;
        Ok(())
    }

    fn describe(to: &mut Vec<Description>) {
        <M as Message>::describe(to);
    }
}

impl<M: Message> Field for Option<M> {
    const TYPE: u64 = 11;
    const TYPE_NAME: Option<&'static str> = Some(M::NAME);

    fn put(&self, number: u64, out: &mut Vec<u8>) {
        if let Some(message) = self {
            message.put(number, out);
        }
    }

    fn take(&mut self, wire: u64, from: &mut Bytes<'_>) -> Result<(), Malformed> {
        *self = Some(decode(block(wire, from)?.0)?);
        Ok(())
    }

    fn describe(to: &mut Vec<Description>) {
        <M as Message>::describe(to);
    }
}

/// Implements optional numbers.
macro_rules! optional {
    ($type:ty) => {
        impl Field for Option<$type> {
            const TYPE: u64 = <$type as Field>::TYPE;

            fn put(&self, number: u64, out: &mut Vec<u8>) {
                if let Some(value) = self {
                    value.put(number, out);
                }
            }

            fn take(&mut self, wire: u64, from: &mut Bytes<'_>) -> Result<(), Malformed> {
                self.get_or_insert_default().take(wire, from)
            }
        }
    };
}

optional!(f64);
optional!(u64);

impl<M: Message> Field for Vec<M> {
    const TYPE: u64 = 11;
    const IS_REPEATED: bool = true;
    const TYPE_NAME: Option<&'static str> = Some(M::NAME);

    fn put(&self, number: u64, out: &mut Vec<u8>) {
        for message in self {
            message.put(number, out);
        }
    }

    fn take(&mut self, wire: u64, from: &mut Bytes<'_>) -> Result<(), Malformed> {
        self.push(decode(block(wire, from)?.0)?);
        Ok(())
    }

    fn describe(to: &mut Vec<Description>) {
        <M as Message>::describe(to);
    }
}

/// Declares a message: `Name = "package.Name" { 1 field: Type, ... }`, followed by its nested enums:
/// `enums [("Type", ["FIRST", "SECOND"])]`.
macro_rules! message {
    (
        $(#[$doc:meta])*
        $name:ident = $full:literal { $($number:literal $field:ident: $type:ty),* $(,)? }
        $(enums $enums:expr)?
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default)]
        pub(crate) struct $name { $(pub(crate) $field: $type),* }

        impl $crate::wire::Message for $name {
            const NAME: &'static str = $full;

            fn put_fields(&self, out: &mut Vec<u8>) {
                $($crate::wire::Field::put(&self.$field, $number, out);)*
            }

            fn take_field(
                &mut self,
                number: u64,
                wire: u64,
                from: &mut $crate::bytes::Bytes<'_>,
            ) -> Result<(), $crate::bytes::Malformed> {
                match number {
                    $($number => $crate::wire::Field::take(&mut self.$field, wire, from),)*
                    _ => $crate::wire::skip(wire, from),
                }
            }

            fn describe(to: &mut Vec<$crate::wire::Description>) {
                if to.iter().any(|known| known.name == $full) {
                    return;
                }
                let mut description = $crate::wire::Description::new($full);
                $(description.field::<$type>(stringify!($field), $number);)*
                $(for (name, values) in $enums { description.enumeration(name, &values); })?
                to.push(description);
                $(<$type as $crate::wire::Field>::describe(to);)*
            }
        }
    };
}
pub(crate) use message;

impl Description {
    pub(crate) fn new(name: &'static str) -> Self {
        let mut bytes = Vec::new();
        put_bytes(1, split(name).1.as_bytes(), &mut bytes);
        Self { name, bytes }
    }

    pub(crate) fn field<F: Field>(&mut self, name: &str, number: u64) {
        let name = name.strip_prefix("r#").unwrap_or(name);
        put_block(2, &mut self.bytes, |out| {
            put_bytes(1, name.as_bytes(), out);
            put_number(3, number, out);
            put_number(4, if F::IS_REPEATED { 3 } else { 1 }, out);
            put_number(5, F::TYPE, out);
            if let Some(name) = F::TYPE_NAME {
                put_bytes(6, format!(".{name}").as_bytes(), out);
            }
        });
    }

    pub(crate) fn enumeration(&mut self, name: &str, values: &[&str]) {
        put_block(4, &mut self.bytes, |out| {
            put_bytes(1, name.as_bytes(), out);
            for (number, value) in (0..).zip(values) {
                put_block(2, out, |out| {
                    put_bytes(1, value.as_bytes(), out);
                    put_number(2, number, out);
                });
            }
        });
    }
}

/// Splits a full name into package and name.
fn split(name: &str) -> (&str, &str) {
    name.rsplit_once('.').unwrap_or(("", name))
}

/// Returns the `FileDescriptorSet` with which any protobuf reader can decode a message.
pub(crate) fn description_of<M: Message>() -> Vec<u8> {
    const COMMON: &str = "google.protobuf";
    let mut found = Vec::new();
    <M as Message>::describe(&mut found);
    // Each well-known type has its own standard file; all others share a file per package.
    let (common, own): (Vec<_>, Vec<_>) =
        found.iter().partition(|message| split(message.name).0 == COMMON);
    let file_of = |name: &str| format!("google/protobuf/{}.proto", split(name).1.to_lowercase());
    let mut set = Vec::new();
    for message in &common {
        put_block(1, &mut set, |out| {
            put_bytes(1, file_of(message.name).as_bytes(), out);
            put_bytes(2, COMMON.as_bytes(), out);
            put_bytes(4, &message.bytes, out);
            put_bytes(12, b"proto3", out);
        });
    }
    let package = split(M::NAME).0;
    put_block(1, &mut set, |out| {
        put_bytes(1, format!("{package}.proto").as_bytes(), out);
        put_bytes(2, package.as_bytes(), out);
        for message in &common {
            put_bytes(3, file_of(message.name).as_bytes(), out);
        }
        for message in &own {
            put_bytes(4, &message.bytes, out);
        }
        put_bytes(12, b"proto3", out);
    });
    set
}
