"""Records as tensors of torch: what `batch.torch(device)` returns. The one thing to know: pixels travel as bytes.

On the CPU nothing is copied: a tensor looks at the memory of its array. NumPy cannot tell torch in every version that
memory is read-only, and torch has no tensors that are, so do not write into `obs` of a batch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

try:
    import torch
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError("torch() needs torch: pip install 'reinfors[torch]'", name="torch") from missing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reinfors._reinfors import Records

# What a batch may hold beside its records.
BESIDE = ("last_obs", "last_values", "last_states", "final_rows", "final_obs", "final_states")


class Tensors:
    """The fields of records as tensors on one device, by the names and of the types that they have as arrays.

    An observation of several parts is a dict of tensors. `obs` stays `uint8` where it is: make it float on the device,
    minibatch by minibatch.
    """

    def __init__(self, records: Records, device: object = None) -> None:
        """Converts records.

        Args:
            records: A batch or a minibatch.
            device: Where to: anything that torch takes as a device; `None` for the CPU, without a copy.
        """
        names = [*records.fields, *(name for name in BESIDE if hasattr(records, name))]
        self._tensors = {name: _converted(getattr(records, name), device) for name in names}
        self._fields = tuple(records.fields)
        self._len = len(records)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        """A tensor by the name of its field; a dict of them where observations have several parts."""
        if name.startswith("_") or name not in self._tensors:
            raise AttributeError(f"there is no {name}; the fields are {', '.join(self._tensors)}")
        return self._tensors[name]

    def __len__(self) -> int:
        return self._len

    def minibatches(self, size: int, seed: int | None = None) -> Iterator[Tensors]:
        """Every record once, in the order of the batch's own `minibatches`, without leaving the device.

        Args:
            size: Records per minibatch, at least 1; the last one may have fewer.
            seed: Anything `numpy.random.default_rng` takes.

        Yields:
            Minibatches, each a copy of its rows.

        Raises:
            ValueError: `size` is below 1.
        """
        if size < 1:
            raise ValueError(f"size must be at least 1, got {size}")
        if len(self.rewards) != self._len:
            raise ValueError("records in sequences are a minibatch, and have no minibatches of their own")
        order = torch.from_numpy(np.random.default_rng(seed).permutation(self._len))
        for rows in order.split(size):
            yield self._taken(rows)

    def _taken(self, rows: torch.Tensor) -> Tensors:
        taken = object.__new__(Tensors)
        taken._tensors = {name: _rows(self._tensors[name], rows) for name in self._fields}
        taken._fields, taken._len = self._fields, len(rows)
        return taken


def _converted(value: Any, device: object) -> Any:  # noqa: ANN401
    """An array as a tensor on the device, or a dict of them."""
    if isinstance(value, dict):
        return {part: _converted(array, device) for part, array in value.items()}
    return _tensor(value).to(device)


def _tensor(array: np.ndarray) -> torch.Tensor:
    """A tensor over the memory of an array."""
    if array.flags.writeable:
        return torch.from_numpy(array)
    try:
        return torch.from_dlpack(array)
    except BufferError:  # NumPy before 2.1 and torch before 2.9 have no word for read-only memory
        return torch.from_numpy(array.copy())


def _rows(value: Any, rows: torch.Tensor) -> Any:  # noqa: ANN401
    """Some rows of a tensor, or of each in a dict."""
    if isinstance(value, dict):
        return {part: _rows(tensor, rows) for part, tensor in value.items()}
    return value[rows.to(value.device)]
