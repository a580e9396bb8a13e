"""Parquet files that were cut off or spoilt."""


def cut(path):
    """Cut a file's end off, as where a copy was killed."""
    path.write_bytes(path.read_bytes()[:-20])


def spoil(path):
    """Spoil what is in a file; its end tells nothing of it."""
    content = path.read_bytes()
    footer = int.from_bytes(content[-8:-4], "little") + 8
    path.write_bytes(
        b"PAR1" + b"\xff" * (len(content) - footer - 4) + content[-footer:]
    )
