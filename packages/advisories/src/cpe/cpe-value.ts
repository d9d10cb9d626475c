// The value of one attribute of a CPE name.

/** Any, not applicable, or lower-case text, unescaped, at whose ends wildcards may stand. */
export type CpeValue =
  | { readonly kind: 'any' }
  | { readonly kind: 'na' }
  | {
      readonly kind: 'text';
      readonly text: string;
      /** `*`, or as many `?` as there are characters that may stand there; mostly empty. */
      readonly before: string;
      readonly after: string;
    };

export const ANY: CpeValue = { kind: 'any' };
export const NA: CpeValue = { kind: 'na' };

/** The value where it is text without wildcards. */
export function plainText(value: CpeValue): string | undefined {
  return value.kind === 'text' && value.before + value.after === '' ? value.text : undefined;
}
