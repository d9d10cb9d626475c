// The value of one attribute of a CPE name.

/** Any, not applicable, or lower-case text, unescaped, with optional wildcards at both ends. */
export type CpeValue =
  | { readonly kind: 'any' }
  | { readonly kind: 'na' }
  | {
      readonly kind: 'text';
      readonly text: string;
      /** `*`, or one `?` for each permitted character; usually empty. */
      readonly before: string;
      readonly after: string;
    };

export const ANY: CpeValue = { kind: 'any' };
export const NA: CpeValue = { kind: 'na' };

/** The value if it is text without wildcards. */
export function plainText(value: CpeValue): string | undefined {
  return value.kind === 'text' && value.before + value.after === '' ? value.text : undefined;
}
