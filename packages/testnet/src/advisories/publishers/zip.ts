// Writes zip files with any number of entries to disk without buffering them. PKWARE APPNOTE 6.3.10.
import { open } from 'node:fs/promises';
import { crc32, deflateRawSync } from 'node:zlib';

/** Contents are compressed; a file that is already compressed is stored. */
export type ZipEntry =
  | { readonly name: string; readonly contents: string }
  | { readonly name: string; readonly file: StoredFile };

export interface StoredFile {
  readonly path: string;
  readonly sizeBytes: number;
  readonly crc: number;
}

const DEFLATED = 8;
const STORED = 0;
/** From this count on, the old end record overflows, and a zip64 one is added. */
const MANY = 0xffff;
const FLUSH_BYTES = 256 * 1024;
/** 1980-01-01, the zero of DOS time: entries contain their own dates. */
const DOS_DATE = 0x21;
const UTF8_NAMES = 0x0800;

export async function writeZip(path: string, entries: Iterable<ZipEntry>): Promise<StoredFile> {
  await using handle = await open(path, 'w');
  const blocks: Buffer[] = [];
  let directory: Buffer[] = [];
  let count = 0;
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  let sizeBytes = 0;
  let crc = 0;
  const flush = async () => {
    const chunk = Buffer.concat(waiting);
    waiting = [];
    waitingBytes = 0;
    // One concatenated buffer: small buffers would each retain their pool.
    blocks.push(Buffer.concat(directory));
    directory = [];
    if (chunk.length > 0) await handle.write(chunk);
  };
  const put = async (bytes: Buffer) => {
    waiting.push(bytes);
    waitingBytes += bytes.length;
    sizeBytes += bytes.length;
    crc = crc32(bytes, crc);
    if (waitingBytes >= FLUSH_BYTES) await flush();
  };

  for (const entry of entries) {
    const packed = pack(entry);
    const name = Buffer.from(entry.name);
    const fields = headerFields(packed, name.length);
    directory.push(centralHeader(fields, sizeBytes), name);
    count += 1;
    await put(localHeader(fields));
    await put(name);
    if (packed.data) await put(packed.data);
    else if ('file' in entry) for await (const chunk of chunksOf(entry.file.path)) await put(chunk);
  }
  const central = Buffer.concat([...blocks, ...directory]);
  const end = endRecords(count, { sizeBytes: central.length, offset: sizeBytes });
  await put(central);
  await put(end);
  await flush();
  return { path, sizeBytes, crc };
}

interface Packed {
  readonly method: number;
  readonly crc: number;
  readonly packedBytes: number;
  readonly sizeBytes: number;
  readonly data: Buffer | null;
}

function pack(entry: ZipEntry): Packed {
  if ('file' in entry) {
    const { sizeBytes, crc } = entry.file;
    return { method: STORED, crc, packedBytes: sizeBytes, sizeBytes, data: null };
  }
  const contents = Buffer.from(entry.contents);
  // Sized by the contents: the defaults would allocate a quarter of a megabyte for every small file.
  const data = deflateRawSync(contents, { level: 1, windowBits: 12, memLevel: 5, chunkSize: contents.length + 64 });
  return { method: DEFLATED, crc: crc32(contents), packedBytes: data.length, sizeBytes: contents.length, data };
}

async function* chunksOf(path: string): AsyncGenerator<Buffer> {
  await using handle = await open(path);
  for await (const chunk of handle.createReadStream({ autoClose: false })) yield chunk as Buffer;
}

/** Fields common to the local and the central header (4.3.7, from "version needed" on). */
function headerFields(packed: Packed, nameBytes: number): Buffer {
  const fields = Buffer.alloc(26);
  fields.writeUInt16LE(20, 0);
  fields.writeUInt16LE(UTF8_NAMES, 2);
  fields.writeUInt16LE(packed.method, 4);
  fields.writeUInt16LE(DOS_DATE, 8);
  fields.writeUInt32LE(packed.crc, 10);
  fields.writeUInt32LE(packed.packedBytes, 14);
  fields.writeUInt32LE(packed.sizeBytes, 18);
  fields.writeUInt16LE(nameBytes, 22);
  return fields;
}

function localHeader(fields: Buffer): Buffer {
  return Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), fields]);
}

function centralHeader(fields: Buffer, offset: number): Buffer {
  const tail = Buffer.alloc(14);
  tail.writeUInt32LE(offset, 10);
  return Buffer.concat([Buffer.from('PK\x01\x02\x14\x00', 'latin1'), fields, tail]);
}

/** The end of central directory, preceded by the zip64 one if the count requires it (4.3.14–4.3.16). */
function endRecords(count: number, directory: { readonly sizeBytes: number; readonly offset: number }): Buffer {
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(Math.min(count, MANY), 8);
  end.writeUInt16LE(Math.min(count, MANY), 10);
  end.writeUInt32LE(directory.sizeBytes, 12);
  end.writeUInt32LE(directory.offset, 16);
  if (count < MANY) return end;

  const end64 = Buffer.alloc(56);
  end64.write('PK\x06\x06', 'latin1');
  end64.writeBigUInt64LE(44n, 4);
  end64.writeUInt16LE(45, 12);
  end64.writeUInt16LE(45, 14);
  end64.writeBigUInt64LE(BigInt(count), 24);
  end64.writeBigUInt64LE(BigInt(count), 32);
  end64.writeBigUInt64LE(BigInt(directory.sizeBytes), 40);
  end64.writeBigUInt64LE(BigInt(directory.offset), 48);
  const locator = Buffer.alloc(20);
  locator.write('PK\x06\x07', 'latin1');
  locator.writeBigUInt64LE(BigInt(directory.offset + directory.sizeBytes), 8);
  locator.writeUInt32LE(1, 16);
  return Buffer.concat([end64, locator, end]);
}
