// Decodes Punycode (RFC 3492), to distinguish valid `xn--` labels from invalid ones.

// RFC 3492 §5: the parameters of Punycode as IDNA uses it.
const BASE = 36;
const T_MIN = 1;
const T_MAX = 26;
const SKEW = 38;
const DAMP = 700;
const INITIAL_BIAS = 72;
const INITIAL_N = 0x80;
const MAX_CODE_POINT = 0x10ffff;

/** The Unicode form of the part after `xn--`, or null if it is not Punycode. Input is lower-case ASCII. */
export function decodePunycode(encoded: string): string | null {
  const delimiter = encoded.lastIndexOf('-');
  const output = delimiter > 0 ? Array.from(encoded.slice(0, delimiter), (c) => c.charCodeAt(0)) : [];
  let position = delimiter > 0 ? delimiter + 1 : 0;
  let codePoint = INITIAL_N;
  let insertAt = 0;
  let bias = INITIAL_BIAS;
  while (position < encoded.length) {
    const before = insertAt;
    let weight = 1;
    for (let k = BASE; ; k += BASE) {
      const digit = digitOf(encoded.charCodeAt(position++));
      if (digit === null) return null;
      insertAt += digit * weight;
      if (insertAt > 0x7fffffff) return null;
      const threshold = Math.min(T_MAX, Math.max(T_MIN, k - bias));
      if (digit < threshold) break;
      weight *= BASE - threshold;
    }
    const length = output.length + 1;
    bias = adapt(insertAt - before, length, before === 0);
    codePoint += Math.floor(insertAt / length);
    if (codePoint > MAX_CODE_POINT || (codePoint >= 0xd800 && codePoint <= 0xdfff)) return null;
    insertAt %= length;
    output.splice(insertAt++, 0, codePoint);
  }
  return String.fromCodePoint(...output);
}

/** `a`–`z` are 0–25, `0`–`9` are 26–35; past the end charCodeAt returns NaN, which is neither. */
function digitOf(code: number): number | null {
  if (code >= 0x61 && code <= 0x7a) return code - 0x61;
  if (code >= 0x30 && code <= 0x39) return code - 0x30 + 26;
  return null;
}

function adapt(delta: number, length: number, isFirst: boolean): number {
  let rest = Math.floor(delta / (isFirst ? DAMP : 2));
  rest += Math.floor(rest / length);
  let k = 0;
  for (; rest > ((BASE - T_MIN) * T_MAX) / 2; k += BASE) rest = Math.floor(rest / (BASE - T_MIN));
  return k + Math.floor(((BASE - T_MIN + 1) * rest) / (rest + SKEW));
}
