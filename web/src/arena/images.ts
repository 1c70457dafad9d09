/** Largest side of an attached image in pixels. Models do not see more. */
const LARGEST = 1568;
export const MOST_IMAGES = 4;

/** The image files of a paste or a file dialog. */
export function imagesIn(files: Iterable<File> | undefined): File[] {
  return [...(files ?? [])].filter(({ type }) => type.startsWith("image/"));
}

/** Reads an image as a data URL. A large image is made smaller, because it is sent with every follow-up question. */
export async function readImage(file: File): Promise<string> {
  const url = await dataUrl(file);
  const image = new Image();
  image.src = url;
  await image.decode();
  const scale = LARGEST / Math.max(image.naturalWidth, image.naturalHeight);
  if (scale >= 1 && /^image\/(png|jpeg|webp|gif)$/.test(file.type)) return url;
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(image.naturalWidth * Math.min(1, scale)));
  canvas.height = Math.max(1, Math.round(image.naturalHeight * Math.min(1, scale)));
  canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL("image/jpeg", 0.85);
}

function dataUrl(file: File): Promise<string> {
  return new Promise((done, failed) => {
    const reader = new FileReader();
    reader.onload = () => done(reader.result as string);
    reader.onerror = () => failed(reader.error);
    reader.readAsDataURL(file);
  });
}
