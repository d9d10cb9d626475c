// The elements of a large JSON list, one at a time, without holding the list.
import { JobError } from '../../exports/job.ts';

/** What precedes the first element: of a list, or of an object with only the list `domains`. */
const START = /^(\ufeff)?\s*(?:\{\s*"domains"\s*:\s*)?\[/;
/** Of white space around the list. */
const MAX_AROUND = 1_024;
const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);

/**
 * The text of each element; a caller parses it. `content` is UTF-8. Throws JobError where the content is not such a list, or
 * an element is longer than `maxBytes`.
 */
export async function* elementsOf(content: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<string> {
  const refuseLong = (length: number) => {
    if (length <= maxBytes) return;
    throw new JobError('invalid_parameter', `The upload has an element of more than ${maxBytes} bytes.`);
  };
  let rest = Buffer.alloc(0);
  let at = 0;
  let state: 'start' | 'list' | 'end' = 'start';
  let closing = '';
  let [depth, isString, isEscaped, isFirst] = [0, false, false, true];
  for await (const chunk of content) {
    rest = Buffer.concat([rest, chunk]);
    if (state === 'start') {
      const start = START.exec(rest.toString('utf8', 0, MAX_AROUND));
      if (!start && rest.length < MAX_AROUND) continue;
      if (!start) throw notList();
      rest = rest.subarray(Buffer.byteLength(start[0]));
      closing = start[0].includes('{') ? '}' : '';
      state = 'list';
    }
    let from = 0;
    for (; state === 'list' && at < rest.length; at += 1) {
      const byte = rest[at] ?? 0;
      if (isString) {
        if (isEscaped) isEscaped = false;
        else if (byte === BACKSLASH) isEscaped = true;
        else isString = byte !== QUOTE;
      } else if (byte === QUOTE) isString = true;
      else if (OPENING.has(byte)) depth += 1;
      else if (depth > 0 && CLOSING.has(byte)) depth -= 1;
      else if (depth === 0 && (byte === COMMA || CLOSING.has(byte))) {
        refuseLong(at - from);
        const element = rest.toString('utf8', from, at);
        if (byte !== COMMA) state = 'end';
        if (state !== 'end' || !isFirst || element.trim() !== '') yield element;
        [from, isFirst] = [at + 1, false];
      }
    }
    rest = rest.subarray(from);
    at = state === 'list' ? rest.length : 0;
    refuseLong(rest.length);
  }
  if (state !== 'end' || rest.length > MAX_AROUND || rest.toString().trim() !== closing) throw notList();
}

const notList = () => new JobError('invalid_parameter', 'The upload is not a JSON list of names, or {"domains": […]}.');
