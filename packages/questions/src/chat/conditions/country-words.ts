// Countries in a sentence: names, codes and adjectives.

/** Of current country codes by name in lower case. */
const COUNTRIES: ReadonlyMap<string, string> = new Map(
  [
    ...countryNames(),
    ...['UK gb', 'USA us', 'Holland nl', 'Great_Britain gb', 'Czech_Republic cz', 'Turkey tr', 'Hong_Kong hk'].map(
      (each) => each.replace('_', ' ').split(/ (?=[a-z]{2}$)/) as [string, string],
    ),
  ].map(([name, code]) => [name.toLowerCase(), code]),
);
const MAX_COUNTRY_WORDS = 4;

function* countryNames(): Generator<readonly [name: string, code: string]> {
  const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
  for (const first of letters)
    for (const second of letters) {
      const code = first + second;
      const name = names.of(code);
      // A former code, such as DD, is another one in its canonical form.
      if (name !== undefined && new Intl.Locale(`und-${code}`).region === code) yield [name, code.toLowerCase()];
    }
}

const COUNTRY_LINKS = new Set('in from of or and the among between'.split(' '));

/** After `in` or `from`, or in a list after another country: `Georgia` alone is a name. */
export function countryAt(
  words: readonly string[],
  raw: readonly string[],
  at: number,
): { readonly code: string; readonly length: number } | undefined {
  const start = words[at] === 'the' ? at + 1 : at;
  if (!COUNTRY_LINKS.has(words[at - 1] ?? '') && !COUNTRIES.has(words[at - 1] ?? '')) return undefined;
  for (let length = MAX_COUNTRY_WORDS; length > 0; length -= 1) {
    const name = words.slice(start, start + length).join(' ');
    const code = COUNTRIES.get(name) ?? (length === 1 ? codeOf(raw[start] ?? '') : undefined);
    if (code !== undefined) return { code, length: start + length - at };
  }
  return undefined;
}

/** Adjectives by country code. */
const NATIONS: ReadonlyMap<string, string> = new Map(
  (
    'american=us australian=au austrian=at belgian=be brazilian=br british=gb canadian=ca chinese=cn czech=cz danish=dk dutch=nl ' +
    'estonian=ee finnish=fi french=fr german=de greek=gr hungarian=hu indian=in irish=ie italian=it japanese=jp mexican=mx ' +
    'norwegian=no polish=pl portuguese=pt romanian=ro russian=ru spanish=es swedish=se swiss=ch turkish=tr ukrainian=ua'
  )
    .split(' ')
    .map((each) => each.split('=') as [string, string]),
);

const codes = new Set(COUNTRIES.values());
const codeOf = (word: string) =>
  /^[A-Z]{2}$/.test(word) && codes.has(word.toLowerCase()) ? word.toLowerCase() : undefined;

export const isNation = (word: string): boolean => NATIONS.has(word);

/** Of an adjective, or a code in capital letters. */
export const nationOf = (word: string, raw: string): string | undefined =>
  NATIONS.get(word) ?? codeOf(raw) ?? (raw === 'UK' ? 'gb' : undefined);
