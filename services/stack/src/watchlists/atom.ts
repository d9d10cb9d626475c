// The notifications of a watchlist as an Atom feed (RFC 4287).
import type { StoredNotification } from '../store/index.ts';
import { notificationId } from './message.ts';
import type { Watchlist } from './watchlist.ts';

/** When the feed changed last. */
export function updatedAtOf(list: Watchlist, [newest]: readonly StoredNotification[]): Date {
  return newest && newest.createdAt > list.updatedAt ? newest.createdAt : list.updatedAt;
}

/** Newest first. Links are relative to the address of the feed. */
export function atomOf(list: Watchlist, notifications: readonly StoredNotification[]): string {
  const updated = updatedAtOf(list, notifications).toISOString();
  const entries = notifications.map(
    ({ id, title, domain, createdAt, at }) => `  <entry>
    <id>urn:strata:${list.id}:${notificationId(id)}</id>
    <title>${xmlText(title)}</title>
    <link rel="alternate" href="/domain/${xmlText(domain)}"/>
    <published>${at}</published>
    <updated>${createdAt.toISOString()}</updated>
  </entry>\n`,
  );
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
  <id>urn:strata:${list.id}</id>
  <title>${xmlText(list.name)}</title>
  <link rel="self" href="feed.atom?token=${list.feedToken}"/>
  <link rel="alternate" href="/watchlists"/>
  <author><name>Strata</name></author>
  <updated>${updated}</updated>
${entries.join('')}</feed>
`;
}

/** Without the characters that XML 1.0 excludes. */
function xmlText(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[^\t\n\r -\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, ' ')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
