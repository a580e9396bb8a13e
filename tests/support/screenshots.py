"""Pictures of pages that tests keep, and what can be said of them loosely."""

import base64
import os
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser

KEEP = "PLANNER_KEEP_PICTURES"
"""Environment variable: the folder in which the pictures of tests are kept."""
MEASURE = """async address => {
  const image = new Image();
  image.src = address;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height);
  const context = canvas.getContext('2d');
  context.drawImage(image, 0, 0);
  const bytes = context.getImageData(0, 0, image.width, image.height).data;
  let coloured = 0, light = 0;
  for (let at = 0; at < bytes.length; at += 4) {
    const pixel = [bytes[at], bytes[at + 1], bytes[at + 2]];
    if (Math.max(...pixel) - Math.min(...pixel) > 40) coloured += 1;
    if (pixel[0] + pixel[1] + pixel[2] > 382) light += 1;
  }
  const pixels = bytes.length / 4;
  return [image.width, image.height, coloured / pixels, light / pixels];
}"""


@dataclass(frozen=True)
class Measured:
    """
    Loose figures of a picture.

    `coloured`: fraction of pixels that are no grey; `light`: of those brighter than a
    middle grey.
    """

    width: int
    height: int
    coloured: float
    light: float


def kept_folder(default: Path) -> Path:
    """Return the folder for pictures; workflows keep that of the environment."""
    folder = Path(os.environ.get(KEEP) or default)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def measured(browser: Browser, picture: bytes) -> Measured:
    """Decode a PNG in the browser, and count its pixels there."""
    page = browser.new_page()
    try:
        address = f"data:image/png;base64,{base64.b64encode(picture).decode()}"
        return Measured(*page.evaluate(MEASURE, address))
    finally:
        page.close()
