// The text of uploaded bytes: UTF-8, or UTF-16 where a byte order mark shows it, as spreadsheets write "Unicode text".
import { Refusal } from './problems/errors.ts';

type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be';

/** By the byte order mark (Unicode 16.0, 23.8); without one UTF-8. */
function encodingOf([first, second]: Uint8Array): Encoding {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
}

/** Without its byte order mark. Throws Refusal for bytes that are not text. */
export function textOf(bytes: Uint8Array): string {
  return decodedBy(new TextDecoder(encodingOf(bytes), { fatal: true }), bytes);
}

function decodedBy(decoder: TextDecoder, bytes?: Uint8Array, options?: { readonly stream: boolean }): string {
  try {
    return decoder.decode(bytes, options);
  } catch {
    throw new Refusal(
      'invalid_parameter',
      'The request body is not text in UTF-8, or in UTF-16 with a byte order mark.',
    );
  }
}

/** The same bytes, or of UTF-16 those of the same text in UTF-8. Throws Refusal for invalid UTF-16. */
export async function* asUtf8(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let head: Uint8Array = new Uint8Array(0);
  let decoder: TextDecoder | null | undefined;
  for await (const chunk of chunks) {
    let bytes = chunk;
    if (decoder === undefined) {
      bytes = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
      head = bytes;
      if (bytes.length < 2) continue;
      const encoding = encodingOf(bytes);
      decoder = encoding === 'utf-8' ? null : new TextDecoder(encoding, { fatal: true });
    }
    yield decoder ? Buffer.from(decodedBy(decoder, bytes, { stream: true })) : bytes;
  }
  if (decoder === undefined && head.length > 0) yield head;
  if (decoder) yield Buffer.from(decodedBy(decoder));
}
