import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createLogger } from '@strata/http';
import { EventBus } from './events.ts';

it('an event reaches its subscribers in order, before it is published completely, though one of them fails', () => {
  const lines: string[] = [];
  const events = new EventBus(createLogger({ level: 'info' }, { write: (line: string) => void lines.push(line) }));
  const received: string[] = [];
  events.subscribe('scan-recorded', ({ domain }) => received.push(`first ${domain}`));
  events.subscribe('scan-recorded', () => {
    throw new Error('of its own');
  });
  events.subscribe('scan-recorded', ({ at }) => received.push(`last ${at}`));
  events.subscribe('index-rebuilt', () => received.push('rebuilt'));
  events.publish('scan-recorded', { domain: 'a.com', at: 7 });
  assert.deepEqual(received, ['first a.com', 'last 7']);
  assert.match(lines.join(), /a subscriber of an event failed/);
});
