// The body of a response, unpacked and bounded: a bomb, an endless stream or a lie gives what came out before the limit.
import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';

/** The unpacked body up to `maxBytes`; `isTruncated` when there was more, or the rest could not be read. Never rejects. */
export async function readBody(
  response: IncomingMessage,
  maxBytes: number,
): Promise<{ body: Buffer; isTruncated: boolean }> {
  const unpack = unpackerFor(response.headers['content-encoding']?.trim().toLowerCase());
  // Faults of either stream end both; the reader sees them as its own.
  const stream = unpack === undefined ? response : pipeline(response, unpack, () => {});
  const chunks: Buffer[] = [];
  let room = maxBytes;
  let isTruncated = false;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      chunks.push(chunk.subarray(0, room));
      room -= chunk.length;
      // Leaving the loop destroys the stream, and with it an unpacking that would go on for ever.
      if (room < 0) {
        isTruncated = true;
        break;
      }
    }
  } catch (error) {
    // An end before anything came: a 304 may name the packing of what it does not send, and is whole.
    const isNothing = (error as NodeJS.ErrnoException).code === 'Z_BUF_ERROR' && unpack?.bytesWritten === 0;
    isTruncated = !isNothing || !response.complete;
  }
  return { body: Buffer.concat(chunks), isTruncated };
}

function unpackerFor(encoding: string | undefined) {
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'br':
      return createBrotliDecompress();
    case 'deflate':
      return createInflate();
    case 'zstd':
      return createZstdDecompress();
    default:
      return undefined;
  }
}
