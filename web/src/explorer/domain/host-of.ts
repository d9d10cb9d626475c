// Extracts the host name from user input: a URL, a mail address, or a name with a port or a trailing dot.

/** The host name. Invalid input is passed through: the service reports what is wrong with it. */
export function hostOf(text: string): string {
  const trimmed = text.trim();
  const host = /^(?:[a-z][a-z0-9+.-]*:\/\/)?(?:[^/?#@]*@)?([^/?#:@]+)(?::\d+)?(?:[/?#].*)?$/i.exec(trimmed)?.[1];
  return (host ?? trimmed).replace(/\.$/, '').toLowerCase();
}
