// What people paste into a box for domains: an address of a page, a mail address, a name with a port or a dot at its end.

/** The host in it; what cannot be read as one is left to the service, which says what is wrong with it. */
export function hostOf(text: string): string {
  const trimmed = text.trim();
  const host = /^(?:[a-z][a-z0-9+.-]*:\/\/)?(?:[^/?#@]*@)?([^/?#:@]+)(?::\d+)?(?:[/?#].*)?$/i.exec(trimmed)?.[1];
  return (host ?? trimmed).replace(/\.$/, '').toLowerCase();
}
