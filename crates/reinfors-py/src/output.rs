//! Numbers of the caller, read in: arrays of NumPy, of torch, and of whatever speaks `__dlpack__` or `__array__`.

use crate::arguments::{count, shown, unless_interrupted, wrong_type};
use crate::arrays::{caused_by, converted, is_masked, plain};
use numpy::{PyArrayDescrMethods, PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyException, PyTypeError};
use pyo3::prelude::*;
use reinfors_core::PictureSize;

/// An array that somebody must give.
pub(crate) struct Output {
    /// Who must do what, in messages: `"infer must return"`.
    pub(crate) duty: &'static str,
    /// What it is called there.
    pub(crate) name: &'static str,
    /// Whether it holds integers.
    pub(crate) is_integer: bool,
}

impl Output {
    /// Its shape, and where that is the needed one its numbers, widened to `f64`, in C order. Another shape is
    /// the engine's to refuse, and may be of any size.
    pub(crate) fn read(
        &self,
        output: &Bound<'_, PyAny>,
        needed: &[usize],
        values: &mut Vec<f64>,
        shape: &mut Vec<usize>,
    ) -> PyResult<()> {
        let array = self.host_array(output)?;
        shape.clear();
        shape.extend_from_slice(array.shape());
        values.clear();
        if is_masked(array.as_any())? {
            return Err(self.refused("a masked array: fill it first"));
        }
        let has_values = shape == needed;
        let kind: char = array.dtype().kind().into();
        match (self.is_integer, kind) {
            (true, 'i' | 'u') if !has_values => {}
            (true, 'i') => values.extend(converted::<i64>(&array, "int64")?.into_iter().map(|n| n as f64)),
            (true, 'u') => values.extend(converted::<u64>(&array, "uint64")?.into_iter().map(|n| n as f64)),
            (true, _) => return Err(self.refused(&format!("an array of dtype {}", array.dtype()))),
            (false, _) => {
                if let Ok(array) = array.cast::<PyArrayDyn<f32>>() {
                    if has_values {
                        let array = plain(array)?.readonly();
                        values.extend(array.as_slice()?.iter().map(|&value| f64::from(value)));
                    }
                } else if let Ok(array) = array.cast::<PyArrayDyn<f64>>() {
                    if has_values {
                        values.extend_from_slice(plain(array)?.readonly().as_slice()?);
                    }
                } else {
                    return Err(self.refused(&format!("an array of dtype {}", array.dtype())));
                }
            }
        }
        Ok(())
    }

    fn refused(&self, given: &str) -> PyErr {
        PyTypeError::new_err(self.unaccepted(given))
    }

    fn unaccepted(&self, given: &str) -> String {
        let (name, kind) = (self.name, if self.is_integer { "integers" } else { "float32 or float64" });
        format!(
            "{} {name} as {kind}: a NumPy array, a torch tensor or a CPU object with \
             __dlpack__ or __array__; got {given}",
            self.duty
        )
    }

    /// Any accepted output as a NumPy array of whatever type and layout it has.
    fn host_array<'py>(&self, output: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyUntypedArray>> {
        if let Ok(array) = output.cast::<PyUntypedArray>() {
            return Ok(array.clone());
        }
        let has_dlpack = output.hasattr("__dlpack__")?;
        if !has_dlpack && !output.hasattr("__array__")? {
            return Err(self.refused(&shown(output)?));
        }
        let numpy = output.py().import("numpy")?;
        let convert = || -> PyResult<Bound<'py, PyAny>> {
            let mut tensor = output.clone();
            // Torch's own words for what NumPy cannot look at: a tensor in a graph, a tensor on another device.
            if let Some(flag) = tensor.getattr_opt("requires_grad")?
                && flag.is_truthy()?
            {
                tensor = tensor.call_method0("detach")?;
            }
            if let Some(device) = tensor.getattr_opt("device")?
                && let Some(kind) = device.getattr_opt("type")?
                && kind.ne("cpu")?
                && tensor.hasattr("cpu")?
            {
                tensor = tensor.call_method0("cpu")?;
            }
            if has_dlpack {
                match numpy.call_method1("from_dlpack", (&tensor,)) {
                    // What NumPy cannot take this way it may take the other.
                    Err(error) if error.is_instance_of::<PyException>(output.py()) => {}
                    taken => return taken,
                }
            }
            numpy.call_method1("asarray", (&tensor,))
        };
        let converted = convert()
            .map_err(|error| caused_by(error, output.py(), || Ok(self.unaccepted(&shown(output)?))))?;
        converted.cast_into::<PyUntypedArray>().map_err(|error| {
            shown(&error.into_inner()).map_or_else(|interrupt| interrupt, |given| self.refused(&given))
        })
    }
}

/// A size as `(height, width)`, like every size.
pub(crate) fn picture_size(given: &Bound<'_, PyAny>) -> PyResult<PictureSize> {
    let sides: [Bound<'_, PyAny>; 2] = unless_interrupted(given.py(), given.extract())?
        .ok_or_else(|| wrong_type("size", "(height, width)", given))?;
    let allowed = *PictureSize::SIDES.start() as i64..=*PictureSize::SIDES.end() as i64;
    let [height, width] = sides.map(|side| count("each side of size", &side, allowed.clone()));
    Ok(PictureSize { height: height?, width: width? })
}
