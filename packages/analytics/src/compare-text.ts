// One order of text everywhere: by UTF-16 units, which for ids and names of domains is the order of their bytes.

export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
