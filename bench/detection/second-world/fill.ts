// Placeholders in records: what a vendor assigns to one customer. The same placeholder is the same text in all records of a service.
import type { Mint } from '@strata/testnet';

const WORDS =
  'amber aspen birch brook cedar clover coral daisy delta ember fern flint grove hazel iris jade juniper lark laurel lily maple mira moss nora olive opal pine quinn reed river robin rowan ruby sage sky stone thea vera violet willow zara'.split(
    ' ',
  );

/** `{customer}`, `{domain}`, `{domain-}`, `{key}`, `{word}`, `{hex8}`, `{num4}`, `{low6}`, `{code43}`, `{eu|us}`; SPF's `%{i}` stays. */
export function fill(text: string, mint: Mint, vendor: string): string {
  return text.replace(/(?<!%)\{([^{}]*)\}/g, (_, name: string) => placeholder(name, mint, `${vendor} ${name}`));
}

function placeholder(name: string, mint: Mint, purpose: string): string {
  if (name === 'customer') return mint.brand;
  if (name === 'domain') return mint.domain;
  if (name === 'domain-') return mint.slug;
  if (name === 'key') return `MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA${mint.code(purpose, 180)}IDAQAB`;
  if (name.startsWith('word')) return WORDS[mint.number(purpose, 0, WORDS.length - 1)] ?? '';
  const choices = name.split('|');
  if (choices.length > 1) return choices[mint.number(purpose, 0, choices.length - 1)] ?? '';
  const [, kind, length] = /^(hex|num|low|code)(\d+)[a-z]?$/.exec(name) ?? [];
  if (kind === undefined) throw new RangeError(`no placeholder {${name}}`);
  const size = Number(length);
  if (kind === 'hex') return mint.hex(purpose, size);
  if (kind === 'code') return mint.code(purpose, size);
  if (kind === 'low') return mint.code(purpose, size).toLowerCase();
  return Array.from({ length: size }, (_, i) => mint.number(`${purpose} ${i}`, i === 0 ? 1 : 0, 9)).join('');
}
