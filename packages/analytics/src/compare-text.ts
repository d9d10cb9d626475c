// The order of text everywhere: by UTF-16 units, which for ids and domain names is the order of their bytes.

export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
