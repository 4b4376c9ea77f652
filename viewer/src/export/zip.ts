// ZIP archives without compression, for pictures, which are compressed already.

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc;
});

function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = CRC_TABLE[(crc ^ byte) & 0xff] ^ (crc >>> 8);
  return ~crc >>> 0;
}

const LOCAL_HEADER = 0x04034b50;
const CENTRAL_HEADER = 0x02014b50;
const END = 0x06054b50;
/** Version 2.0 of the format, and the first day that it can express: the pictures have no date. */
const VERSION = 20;
const DATE = 0x21;

/** Returns a record of little-endian fields: pairs of a size in bytes and a value. */
function record(...fields: [size: 2 | 4, value: number][]): Uint8Array<ArrayBuffer> {
  const out = new DataView(new ArrayBuffer(fields.reduce((sum, [size]) => sum + size, 0)));
  let at = 0;
  for (const [size, value] of fields) {
    if (size === 2) out.setUint16(at, value, true);
    else out.setUint32(at, value, true);
    at += size;
  }
  return new Uint8Array(out.buffer);
}

export interface ZipEntry {
  /** File name, ASCII. */
  name: string;
  bytes: Uint8Array<ArrayBuffer>;
}

/** Returns an archive of files. */
export function zip(entries: readonly ZipEntry[]): Blob {
  const files: Uint8Array<ArrayBuffer>[] = [];
  const directory: Uint8Array<ArrayBuffer>[] = [];
  let offset = 0;
  let directorySize = 0;
  for (const { name, bytes } of entries) {
    const encoded = new TextEncoder().encode(name);
    const common: [2 | 4, number][] = [
      [2, VERSION], [2, 0], [2, 0], [2, 0], [2, DATE], [4, crc32(bytes)],
      [4, bytes.length], [4, bytes.length], [2, encoded.length], [2, 0],
    ];
    const local = record([4, LOCAL_HEADER], ...common);
    files.push(local, encoded, bytes);
    const central = record([4, CENTRAL_HEADER], [2, VERSION], ...common, [2, 0], [2, 0], [2, 0], [4, 0], [4, offset]);
    directory.push(central, encoded);
    offset += local.length + encoded.length + bytes.length;
    directorySize += central.length + encoded.length;
  }
  const count = entries.length;
  const end = record([4, END], [2, 0], [2, 0], [2, count], [2, count], [4, directorySize], [4, offset], [2, 0]);
  return new Blob([...files, ...directory, end], { type: "application/zip" });
}
