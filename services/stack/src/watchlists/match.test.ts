// What rules report, and when it is sent and repeated.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { casesOf } from '../../../../tests/support/vectors.ts';
import type { ChangeConfirmed, StoredNotification } from '../store/index.ts';
import { match, type Signal } from './match.ts';
import { requestOf } from './message.ts';
import { dueAt, retryAfterMs } from './schedule.ts';
import type { Channel, Rule } from './watchlist.ts';

const at = new Date('2026-11-29T12:00:00Z');
const domain = 'a.com';
type Facts = Pick<ChangeConfirmed, 'type' | 'from' | 'to'>;
const change = (facts: Facts): Signal => {
  return {
    kind: 'change',
    key: 'ev_1',
    at,
    domain,
    change: { ...facts, category: 'dns', role: 'dns' } as ChangeConfirmed,
  };
};
const moved = change({ type: 'migrated', from: 'old', to: 'new' });
const added = change({ type: 'added', from: null, to: 'new' });
const fell: Signal = { kind: 'score', key: 'ev_2', at, domain, before: 86, after: 84 };
const exploited: Signal = { kind: 'exploited', key: 'ev_3', at, advisory: 'CVE-1', title: null };
const ends = (day: string): Signal => ({ kind: 'certificate', key: day, at, domain, expiresAt: new Date(day) });
const named: Signal = { kind: 'mention', key: 'mention_1', at, domain, feed: 'News', title: 'T', url: null };

const SIGNALS: Readonly<Record<string, Signal>> = {
  ...{ moved, added, fell, exploited, named, ends: ends('2026-12-10'), ended: ends('2026-11-01') },
  ...{
    reclassified: change({ type: 'reclassified', from: 'old', to: 'new' }),
    risen: { ...fell, before: 84, after: 86 },
  },
};

it('a rule reports only the events that it is about', () => {
  const nameOf = (id: string) => id.charAt(0).toUpperCase() + id.slice(1);
  for (const [name, rule, title] of casesOf<[string, Rule, string?][]>('stack', 'reports of rules')) {
    const signal = SIGNALS[name] ?? assert.fail(name);
    const watched = signal.kind === 'exploited' ? [domain, 'b.com'] : [domain];
    const found = match(signal, { id: 'wl', rules: [rule, rule] }, watched, { nameOf });
    const expected = title === undefined ? [] : [title];
    const titles = found.map(({ notification }) => notification.title);
    assert.deepEqual(titles, expected, JSON.stringify([signal.key, rule]));
    assert.deepEqual(match(signal, { id: 'wl', rules: [rule] }, [], { nameOf }), []);
  }
});

it('digests and quiet hours delay a message, in the local time of its channel', () => {
  for (const [now, channel, due] of casesOf<[string, Partial<Channel>, string][]>('stack', 'times of messages')) {
    const defaults: Channel = { id: 'ch', kind: 'webhook', target: '', digest: 'none', timeZone: 'UTC' };
    assert.equal(
      new Date(dueAt(Date.parse(now), { ...defaults, ...channel })).getTime(),
      Date.parse(due),
      `${now} ${JSON.stringify(channel)}`,
    );
  }
});

it('a message is tried again for three days, later each time', () => {
  const delays = Array.from({ length: 12 }, (_, i) => retryAfterMs(i + 1, { random: () => 0.5 }));
  const hours = delays.reduce<number>((sum, delay = 0) => sum + delay, 0) / 3_600_000;
  assert.ok(hours > 72 && hours < 80 && delays[9] === undefined, String(hours));
  assert.equal(retryAfterMs(1, { random: () => 0, askedMs: 60_000 }), 60_000);
});

for (const [kind, base, lines] of casesOf<['slack' | 'teams', string | null, string[]][]>('stack', 'lines of messages'))
  it(`a message to ${kind} has ${base ? 'links to pages' : 'no links'}, and no markup of titles`, () => {
    const notifications = [{ title: 'a.com: <!here> *[x](y)', domain: 'a.com' }] as unknown as StoredNotification[];
    const message = { id: 'msg_1', list: { id: 'wl_1', name: 'Own' }, createdAt: at, notifications };
    const { text, attachments } = JSON.parse(requestOf({ kind }, message, { at, base: base ?? undefined }).body);
    const shown = text?.split('\n') ?? attachments[0].content.body.map((block: { text: string }) => block.text);
    assert.deepEqual(shown, lines);
  });
