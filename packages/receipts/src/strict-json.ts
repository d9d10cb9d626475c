// Reads a saved or fetched JSON answer so that what is verified is what any other reader of the same text would see.

/** The text is not JSON, or is JSON that different readers understand differently. */
export class AmbiguousJsonError extends Error {
  override readonly name = 'AmbiguousJsonError';
}

// A string, or a number, or a colon between a name and its value; everything else is skipped.
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|:/gs;

/** More digits than any double needs to be written exactly (1,074 after the point); a longer one costs time, and says no more. */
const MAX_NUMBER_LENGTH = 1_200;

/**
 * JSON value of `text` (RFC 8259, with the limits of I-JSON, RFC 7493 section 2). Refuses two members of one name,
 * and numbers that a double cannot hold: either could show another reader something that was never signed.
 */
export function parseStrictJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new AmbiguousJsonError('not JSON', { cause });
  }
  let members = 0;
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === ':') members++;
    else if (token[0] !== '"' && token.length > MAX_NUMBER_LENGTH) throw new AmbiguousJsonError('a number is too long');
    else if (token[0] !== '"' && !isFaithful(token)) {
      throw new AmbiguousJsonError(`the number ${token.slice(0, 40)} does not fit a double`);
    }
  }
  if (members !== countMembers(value)) throw new AmbiguousJsonError('an object names a member twice');
  return value;
}

/** Whether the shortest text of the double that `token` reads as has the same digits: 1.50 and 15e-1 do. */
function isFaithful(token: string): boolean {
  return significand(token) === significand(String(Number(token)));
}

/** Sign, significant digits and decimal exponent, however the number was spelled. */
function significand(token: string): string {
  const [mantissa = '', exponent = '0'] = token.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const digits = (whole + fraction).replace(/^0+/, '');
  if (digits === '') return '0';
  const trimmed = digits.replace(/0+$/, '');
  const scale = Number(exponent) - fraction.length + (digits.length - trimmed.length);
  return `${mantissa.startsWith('-') ? '-' : ''}${trimmed}e${scale}`;
}

/** Members of all objects inside a value. A list of work instead of recursion: JSON.parse takes any depth. */
function countMembers(root: unknown): number {
  const work: unknown[] = [root];
  let members = 0;
  for (let value = work.pop(); value !== undefined; value = work.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    const children: unknown[] = Array.isArray(value) ? value : Object.values(value);
    if (!Array.isArray(value)) members += children.length;
    for (const child of children) work.push(child);
  }
  return members;
}
