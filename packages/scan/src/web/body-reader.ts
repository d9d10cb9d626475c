// Reads the body of a response, decompressed and bounded: decompression bombs and endless streams are cut at the limit.
import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';

/** The decompressed body up to `maxBytes`; `isTruncated` if there was more, or the rest was unreadable. Never rejects. */
export async function readBody(
  response: IncomingMessage,
  maxBytes: number,
): Promise<{ body: Buffer; isTruncated: boolean }> {
  const decompress = decompressorFor(response.headers['content-encoding']?.trim().toLowerCase());
  // An error of either stream ends both; the reader receives it.
  const stream = decompress === undefined ? response : pipeline(response, decompress, () => {});
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let leftBytes = maxBytes;
    // Only the first call counts.
    const end = (isTruncated: boolean) => resolve({ body: Buffer.concat(chunks), isTruncated });
    stream.on('data', (chunk: Buffer) => {
      if (leftBytes < 0) return;
      chunks.push(chunk.subarray(0, leftBytes));
      leftBytes -= chunk.length;
      if (leftBytes >= 0) return;
      end(true);
      // Ends an endless decompression, too.
      stream.destroy();
    });
    stream.once('end', () => end(false));
    stream.on('error', (error: NodeJS.ErrnoException) => {
      // No compressed bytes at all: a 304 may carry `content-encoding` without a body, and is complete.
      const isEmpty = error.code === 'Z_BUF_ERROR' && decompress?.bytesWritten === 0;
      end(!isEmpty || !response.complete);
    });
    stream.once('close', () => end(true));
    if (stream.destroyed) end(true);
  });
}

function decompressorFor(encoding: string | undefined) {
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
