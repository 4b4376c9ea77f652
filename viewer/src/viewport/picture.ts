// Pictures of the canvas.

/** Returns the content of a canvas as a JPEG of this size, as a data URL. */
export function asJpeg(canvas: HTMLCanvasElement, width: number, height: number): string {
  const type = "image/jpeg";
  const quality = 0.85;
  const small = document.createElement("canvas");
  small.width = width;
  small.height = height;
  const context = small.getContext("2d");
  if (!context || canvas.width === width) return canvas.toDataURL(type, quality);
  context.imageSmoothingQuality = "high";
  context.drawImage(canvas, 0, 0, width, height);
  return small.toDataURL(type, quality);
}
