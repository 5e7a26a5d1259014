//! Options, declared once: [`options!`] makes the struct, its defaults, its parser and the table that errors,
//! documentation, stubs and hostile-value tests are made from.

use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::num::NonZeroU32;
use std::ops::RangeInclusive;

/// A value as it arrives from the caller's language.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum OptionValue {
    /// Nothing.
    None,
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// A text.
    Text(String),
    /// A list or tuple.
    List(Vec<OptionValue>),
}

impl fmt::Display for OptionValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("None"),
            Self::Bool(true) => f.write_str("True"),
            Self::Bool(false) => f.write_str("False"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value:?}"),
            Self::Text(value) => write!(f, "{value:?}"),
            Self::List(values) => {
                f.write_str("[")?;
                for (at, value) in values.iter().enumerate() {
                    write!(f, "{}{value}", if at == 0 { "" } else { ", " })?;
                }
                f.write_str("]")
            }
        }
    }
}

/// A declared option, for errors, documentation, stubs and tests.
#[derive(Clone, Debug, PartialEq)]
pub struct OptionSpec {
    /// Keyword.
    pub name: &'static str,
    /// Value when the caller names none.
    pub default: OptionValue,
    /// The type as a Python annotation.
    pub annotation: String,
    /// Allowed values beyond the type, in words; empty when all are.
    pub allowed: String,
    /// All values, where they are few; else empty.
    pub choices: Vec<OptionValue>,
    /// A sentence or two of documentation.
    pub doc: &'static str,
}

/// A type that an option can have.
pub trait OptionType: Clone {
    /// The type as a Python annotation.
    fn annotation() -> String;

    /// The accepted types in words, for the error.
    fn expected() -> String {
        format!("of type {}", Self::annotation())
    }

    /// The allowed values in words, where the type alone does not say them.
    fn allowed() -> String {
        String::new()
    }

    /// All values, where they are few; else empty.
    fn choices() -> Vec<OptionValue> {
        Vec::new()
    }

    /// The value, or `None` where it is none of this type.
    fn from_value(value: &OptionValue) -> Option<Self>;

    /// Whether a value has this type, though it may be none of its values: 0 is an integer, if no count.
    fn is_of_type(value: &OptionValue) -> bool {
        Self::from_value(value).is_some()
    }

    /// The inverse of [`OptionType::from_value`].
    fn to_value(&self) -> OptionValue;

    /// Whether the value itself is allowed; [`OptionType::allowed`] says which are.
    fn is_allowed(&self) -> bool {
        true
    }
}

impl OptionType for bool {
    fn annotation() -> String {
        "bool".into()
    }
    fn choices() -> Vec<OptionValue> {
        vec![OptionValue::Bool(false), OptionValue::Bool(true)]
    }
    fn from_value(value: &OptionValue) -> Option<Self> {
        if let OptionValue::Bool(value) = value { Some(*value) } else { None }
    }
    fn to_value(&self) -> OptionValue {
        OptionValue::Bool(*self)
    }
}

impl OptionType for f64 {
    fn annotation() -> String {
        "float".into()
    }
    fn allowed() -> String {
        "finite".into()
    }
    #[expect(clippy::cast_precision_loss, reason = "an integer given for a float is rounded, as Python does")]
    fn from_value(value: &OptionValue) -> Option<Self> {
        match value {
            OptionValue::Float(value) => Some(*value),
            OptionValue::Int(value) => Some(*value as Self),
            _ => None,
        }
    }
    fn to_value(&self) -> OptionValue {
        OptionValue::Float(*self)
    }
    fn is_allowed(&self) -> bool {
        self.is_finite()
    }
}

/// A count from 1 to 4,294,967,295. Zero and values beyond are kept apart until they are refused by name.
impl OptionType for NonZeroU32 {
    fn annotation() -> String {
        "int".into()
    }
    fn allowed() -> String {
        format!("an integer from 1 to {}", u32::MAX)
    }
    fn from_value(value: &OptionValue) -> Option<Self> {
        if let OptionValue::Int(value) = value {
            u32::try_from(*value).ok().and_then(Self::new)
        } else {
            None
        }
    }
    fn is_of_type(value: &OptionValue) -> bool {
        matches!(value, OptionValue::Int(_))
    }
    fn to_value(&self) -> OptionValue {
        OptionValue::Int(i64::from(self.get()))
    }
}

impl<T: OptionType> OptionType for Option<T> {
    fn annotation() -> String {
        format!("{} | None", T::annotation())
    }
    fn allowed() -> String {
        let allowed = T::allowed();
        if allowed.is_empty() { allowed } else { format!("{allowed}, or None") }
    }
    fn from_value(value: &OptionValue) -> Option<Self> {
        if *value == OptionValue::None { Some(None) } else { T::from_value(value).map(Some) }
    }
    fn is_of_type(value: &OptionValue) -> bool {
        *value == OptionValue::None || T::is_of_type(value)
    }
    fn to_value(&self) -> OptionValue {
        self.as_ref().map_or(OptionValue::None, T::to_value)
    }
    fn is_allowed(&self) -> bool {
        self.as_ref().is_none_or(T::is_allowed)
    }
}

impl<T: OptionType> OptionType for Vec<T> {
    fn annotation() -> String {
        format!("Sequence[{}]", T::annotation())
    }
    fn allowed() -> String {
        let allowed = T::allowed();
        if allowed.is_empty() { "not empty".into() } else { format!("not empty, each {allowed}") }
    }
    fn from_value(value: &OptionValue) -> Option<Self> {
        if let OptionValue::List(values) = value { values.iter().map(T::from_value).collect() } else { None }
    }
    fn is_of_type(value: &OptionValue) -> bool {
        matches!(value, OptionValue::List(values) if values.iter().all(T::is_of_type))
    }
    fn to_value(&self) -> OptionValue {
        OptionValue::List(self.iter().map(T::to_value).collect())
    }
    fn is_allowed(&self) -> bool {
        !self.is_empty() && self.iter().all(T::is_allowed)
    }
}

impl<T: OptionType, const N: usize> OptionType for [T; N] {
    fn annotation() -> String {
        format!("tuple[{}]", vec![T::annotation(); N].join(", "))
    }
    fn allowed() -> String {
        T::allowed()
    }
    fn from_value(value: &OptionValue) -> Option<Self> {
        let OptionValue::List(values) = value else { return None };
        let values: Option<Vec<T>> = values.iter().map(T::from_value).collect();
        values?.try_into().ok()
    }
    fn is_of_type(value: &OptionValue) -> bool {
        matches!(value, OptionValue::List(values) if values.len() == N && values.iter().all(T::is_of_type))
    }
    fn to_value(&self) -> OptionValue {
        OptionValue::List(self.iter().map(T::to_value).collect())
    }
    fn is_allowed(&self) -> bool {
        self.iter().all(T::is_allowed)
    }
}

/// The options of a game: what [`options!`](crate::options!) implements.
pub trait Options: Default + Clone + Send + Sync + 'static {
    /// The declarations, in order.
    fn specs() -> Vec<OptionSpec>;

    /// Every option's value, in the order of declaration.
    fn values(&self) -> Vec<(&'static str, OptionValue)>;

    /// The defaults with the given options over them; `game` names the game in errors.
    ///
    /// # Errors
    /// An unknown name, a value of the wrong type, a value that is not allowed.
    fn parse(game: &'static str, given: &[(String, OptionValue)]) -> Result<Self>;
}

/// One option's value out of what was given, or the error that names what is accepted.
///
/// # Errors
/// A value of the wrong type or outside `range`.
pub fn accept<T: OptionType + PartialOrd>(
    name: &'static str,
    given: &OptionValue,
    range: Option<&RangeInclusive<T>>,
) -> Result<T> {
    let refused = || Error::OptionValue { name, allowed: allowed_in(range), given: given.to_string() };
    match T::from_value(given) {
        Some(value) if value.is_allowed() && range.is_none_or(|range| range.contains(&value)) => Ok(value),
        Some(_) => Err(refused()),
        None if T::is_of_type(given) => Err(refused()),
        None => Err(Error::OptionType {
            name,
            expected: T::expected(),
            given: format!("{given} ({})", type_name(given)),
        }),
    }
}

/// The allowed values in words.
#[must_use]
pub fn allowed_in<T: OptionType>(range: Option<&RangeInclusive<T>>) -> String {
    range.map_or_else(T::allowed, |range| {
        format!("from {} to {}", range.start().to_value(), range.end().to_value())
    })
}

fn type_name(value: &OptionValue) -> &'static str {
    match value {
        OptionValue::None => "None",
        OptionValue::Bool(_) => "bool",
        OptionValue::Int(_) => "int",
        OptionValue::Float(_) => "float",
        OptionValue::Text(_) => "str",
        OptionValue::List(_) => "sequence",
    }
}

/// Declares a game's options: a struct whose fields have documentation, a type, a default and possibly a
/// range.
///
/// ```
/// reinfors_core::options! {
///     /// Options of a walk.
///     pub struct WalkOptions {
///         /// Chance of a stumble at each step.
///         pub stumble: f64 = 0.1, in 0.0..=1.0;
///         /// Whether the walker sees the map.
///         pub map: bool = true;
///     }
/// }
/// use reinfors_core::{OptionValue, Options};
/// let options = WalkOptions::parse("Walk", &[("stumble".into(), OptionValue::Float(0.5))]).unwrap();
/// assert_eq!(options.stumble, 0.5);
/// assert_eq!(options.map, true);
/// let error = WalkOptions::parse("Walk", &[("stumble".into(), OptionValue::Float(2.0))]).unwrap_err();
/// assert_eq!(error.to_string(), "option stumble must be from 0.0 to 1.0, got 2.0");
/// ```
#[macro_export]
macro_rules! options {
    (
        $(#[$struct_attribute:meta])*
        $visibility:vis struct $name:ident {
            $(
                $(#[doc = $doc:literal])+
                pub $option:ident : $type:ty = $default:expr $(, in $range:expr)?;
            )*
        }
    ) => {
        $(#[$struct_attribute])*
        #[derive(Clone, Debug, PartialEq)]
        $visibility struct $name {
            $($(#[doc = $doc])+ pub $option: $type,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($option: $default,)* }
            }
        }

        impl $crate::Options for $name {
            fn specs() -> Vec<$crate::OptionSpec> {
                let default = Self::default();
                vec![$($crate::OptionSpec {
                    name: stringify!($option),
                    default: <$type as $crate::OptionType>::to_value(&default.$option),
                    annotation: <$type as $crate::OptionType>::annotation(),
                    allowed: $crate::options::allowed_in::<$type>($crate::options!(@range $($range)?)),
                    choices: <$type as $crate::OptionType>::choices(),
                    doc: concat!($($doc),+).trim_ascii(),
                },)*]
            }

            fn values(&self) -> Vec<(&'static str, $crate::OptionValue)> {
                vec![$((stringify!($option), <$type as $crate::OptionType>::to_value(&self.$option)),)*]
            }

            fn parse(game: &'static str, given: &[(String, $crate::OptionValue)]) -> $crate::Result<Self> {
                let mut options = Self::default();
                for (name, value) in given {
                    match name.as_str() {
                        $(stringify!($option) => {
                            let range = $crate::options!(@range $($range)?);
                            options.$option =
                                $crate::options::accept::<$type>(stringify!($option), value, range)?;
                        })*
                        _ => return Err($crate::Error::UnknownOption {
                            game,
                            name: name.clone(),
                            allowed: [$(stringify!($option)),*].join(", "),
                        }),
                    }
                }
                Ok(options)
            }
        }
    };
    (@range) => { None };
    (@range $range:expr) => { Some(&$range) };
}

/// Declares an option type that is one of several texts.
///
/// ```
/// reinfors_core::choice! {
///     /// Which way to walk.
///     pub enum Way {
///         /// To the left.
///         Left = "left",
///         /// To the right.
///         Right = "right",
///     }
/// }
/// use reinfors_core::OptionType;
/// assert_eq!(Way::annotation(), "Literal[\"left\", \"right\"]");
/// ```
#[macro_export]
macro_rules! choice {
    (
        $(#[$enum_attribute:meta])*
        $visibility:vis enum $name:ident {
            $($(#[$attribute:meta])* $variant:ident = $text:literal,)*
        }
    ) => {
        $(#[$enum_attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
        $visibility enum $name {
            $($(#[$attribute])* $variant,)*
        }

        impl $crate::OptionType for $name {
            fn annotation() -> String {
                format!("Literal[{}]", [$(concat!("\"", $text, "\"")),*].join(", "))
            }
            fn allowed() -> String {
                [$(concat!("\"", $text, "\"")),*].join(" or ")
            }
            fn choices() -> Vec<$crate::OptionValue> {
                vec![$($crate::OptionValue::Text($text.into())),*]
            }
            fn from_value(value: &$crate::OptionValue) -> Option<Self> {
                match value {
                    $($crate::OptionValue::Text(text) if text == $text => Some(Self::$variant),)*
                    _ => None,
                }
            }
            fn is_of_type(value: &$crate::OptionValue) -> bool {
                matches!(value, $crate::OptionValue::Text(_))
            }
            fn to_value(&self) -> $crate::OptionValue {
                match self {
                    $(Self::$variant => $crate::OptionValue::Text($text.into()),)*
                }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    choice! {
        /// Order of axes.
        enum Order {
            Rows = "rows",
            Columns = "columns",
        }
    }

    options! {
        /// One option of each type.
        struct Sample {
            /// A flag.
            pub flag: bool = false;
            /// A share.
            pub share: f64 = 0.5, in 0.0..=1.0;
            /// A limit.
            pub limit: Option<NonZeroU32> = NonZeroU32::new(1000);
            /// A table.
            pub table: Option<Vec<[f64; 2]>> = None;
            /// An order.
            pub order: Order = Order::Rows;
            /// A pair of counts: as many of the one
            /// as of the other.
            pub pair: [NonZeroU32; 2] = [NonZeroU32::MIN; 2];
        }
    }

    fn parse(name: &str, value: OptionValue) -> Result<Sample> {
        Sample::parse("Sample", &[(name.into(), value)])
    }

    #[test]
    fn documentation_of_several_lines_is_one_text() {
        let docs: Vec<_> = Sample::specs().iter().map(|option| option.doc).collect();
        assert_eq!(docs[0], "A flag.");
        assert_eq!(docs[5], "A pair of counts: as many of the one as of the other.");
    }

    #[test]
    fn values_of_the_declared_types_are_taken() {
        assert!(parse("flag", OptionValue::Bool(true)).unwrap().flag);
        assert_eq!(parse("share", OptionValue::Int(1)).unwrap().share, 1.0);
        assert_eq!(parse("limit", OptionValue::None).unwrap().limit, None);
        assert_eq!(parse("order", OptionValue::Text("columns".into())).unwrap().order, Order::Columns);
        let pair = OptionValue::List(vec![OptionValue::Float(0.5), OptionValue::Int(2)]);
        assert_eq!(parse("table", OptionValue::List(vec![pair])).unwrap().table, Some(vec![[0.5, 2.0]]));
    }

    #[test]
    fn what_is_parsed_is_what_values_returns() {
        let options = Sample {
            limit: None,
            order: Order::Columns,
            table: Some(vec![[1.0, -1.0]]),
            ..Default::default()
        };
        let given: Vec<(String, OptionValue)> =
            options.values().into_iter().map(|(n, v)| (n.into(), v)).collect();
        assert_eq!(Sample::parse("Sample", &given), Ok(options));
    }

    #[test]
    fn a_wrong_type_is_an_error_of_type_and_a_wrong_value_one_of_value() {
        let message = |name, value| {
            let error = parse(name, value).unwrap_err();
            (error.kind(), error.to_string())
        };
        use crate::ErrorKind::{Type, Value};
        assert_eq!(
            message("share", OptionValue::Text("0.95".into())),
            (Type, "option share must be of type float, got \"0.95\" (str)".into())
        );
        assert_eq!(message("share", OptionValue::Float(f64::NAN)).0, Value);
        assert_eq!(
            message("limit", OptionValue::Int(0)),
            (Value, "option limit must be an integer from 1 to 4294967295, or None, got 0".into())
        );
        assert_eq!(message("limit", OptionValue::Bool(true)).0, Type);
        assert_eq!(
            message("order", OptionValue::Text("diagonal".into())),
            (Value, "option order must be \"rows\" or \"columns\", got \"diagonal\"".into())
        );
        assert_eq!(message("table", OptionValue::List(vec![])).0, Value);
        let pair = |second| OptionValue::List(vec![OptionValue::Int(1), second]);
        assert_eq!(
            message("pair", pair(OptionValue::Int(0))),
            (Value, "option pair must be an integer from 1 to 4294967295, got [1, 0]".into())
        );
        assert_eq!(message("pair", pair(OptionValue::Float(0.5))).0, Type);
        // Tuples, lists and arrays are all the same here.
        assert_eq!(
            message("pair", OptionValue::List(vec![OptionValue::Int(1)])),
            (Type, "option pair must be of type tuple[int, int], got [1] (sequence)".into())
        );
        assert_eq!(
            message("speed", OptionValue::Int(0)),
            (
                Value,
                "Sample has no option \"speed\"; its options are flag, share, limit, table, order, pair"
                    .into()
            )
        );
    }
}
