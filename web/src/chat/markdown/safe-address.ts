// Where a stranger's link may lead.

/** Nothing but the address of a page or a mailbox; all else is no link. */
export function safeAddress(url: string): string {
  if (!URL.canParse(url)) return '';
  return /^(?:https?|mailto):$/.test(new URL(url).protocol) ? url : '';
}
