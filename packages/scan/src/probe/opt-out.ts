// Domains whose owners opted out of scanning.

/** Compiles a list: one domain a line, subdomains included, `#` begins a comment. */
export function createOptOut(list: string): (domain: string) => boolean {
  const names = new Set(
    list
      .split(/\r?\n/)
      .map((line) => line.replace(/#.*/, '').trim().toLowerCase().replace(/\.$/, ''))
      .filter((line) => line !== ''),
  );
  return (domain) => {
    for (let name = domain; name !== ''; name = name.includes('.') ? name.slice(name.indexOf('.') + 1) : '') {
      if (names.has(name)) return true;
    }
    return false;
  };
}
