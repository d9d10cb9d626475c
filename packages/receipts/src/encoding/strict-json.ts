// Parses JSON strictly, so that the verified value is the one that any other reader of the text gets.

/** The text is not JSON, or is JSON that readers interpret differently. */
export class AmbiguousJsonError extends Error {
  override readonly name = 'AmbiguousJsonError';
}

/** More digits than the exact decimal form of any double needs (1,074 after the point); longer numbers cost time and add nothing. */
const MAX_NUMBER_LENGTH = 1_200;

/**
 * JSON value of `text` (RFC 8259, with the limits of I-JSON, RFC 7493 section 2). Rejects duplicate member names, and numbers that
 * a double cannot represent: both could show another reader a value that was not signed.
 */
export function parseStrictJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new AmbiguousJsonError('not JSON', { cause });
  }
  if (scanMembers(text) !== countMembers(value)) throw new AmbiguousJsonError('an object has a duplicate member name');
  return value;
}

/**
 * Counts colons outside of strings in valid JSON, and rejects numbers that are too long or do not fit a double. A loop instead of a
 * regular expression: V8's backtracking stack overflows on a string or number of some million characters.
 */
function scanMembers(text: string): number {
  let members = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === ':') members++;
    else if (char === '"') at = closingQuote(text, at);
    else if (isNumberStart(char)) {
      const start = at;
      while (at + 1 < text.length && isNumberPart(text.charAt(at + 1))) at++;
      checkNumber(text.slice(start, at + 1));
    }
  }
  return members;
}

/** Position of the quote that closes the string whose opening quote is at `open`. */
function closingQuote(text: string, open: number): number {
  let at = open + 1;
  while (at < text.length && text.charAt(at) !== '"') at += text.charAt(at) === '\\' ? 2 : 1;
  return at;
}

const isNumberStart = (char: string): boolean => char === '-' || (char >= '0' && char <= '9');

const isNumberPart = (char: string): boolean => isNumberStart(char) || '.eE+'.includes(char);

function checkNumber(token: string): void {
  if (token.length > MAX_NUMBER_LENGTH) throw new AmbiguousJsonError('a number is too long');
  if (!isFaithful(token)) throw new AmbiguousJsonError(`the number ${token.slice(0, 40)} does not fit a double`);
}

/** Whether the shortest text of the parsed double has the same digits as `token`: 1.50 and 15e-1 do. */
function isFaithful(token: string): boolean {
  return significand(token) === significand(String(Number(token)));
}

/** Sign, significant digits and decimal exponent, independent of the notation. */
function significand(token: string): string {
  const [mantissa = '', exponent = '0'] = token.toLowerCase().split('e');
  const [integer = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const digits = (integer + fraction).replace(/^0+/, '');
  if (digits === '') return '0';
  const trimmed = digits.replace(/0+$/, '');
  const scale = Number(exponent) - fraction.length + (digits.length - trimmed.length);
  return `${mantissa.startsWith('-') ? '-' : ''}${trimmed}e${scale}`;
}

/** Members of all objects in a value. Iterative, since JSON.parse accepts any depth. */
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
