import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type SendingState, sendingOf, WAITING_WORDS } from './sending.ts';

const ready: SendingState = { text: 'Hi', isOnline: true, hasKey: true, models: 'known', isAnswering: false };

describe('Enter', () => {
  for (const [what, state, outcome] of [
    ['sends when all is there', {}, 'send'],
    ['does nothing without words', { text: ' \n' }, 'nothing'],
    ['waits for the models', { models: 'loading' }, 'models'],
    ['waits for a model to come', { models: 'none' }, 'service'],
    ['waits for the service to come back', { models: 'failed' }, 'service'],
    ['waits for a key', { hasKey: false, models: 'loading' }, 'key'],
    ['waits for another key', { models: 'refused' }, 'key'],
    ['waits for a connection', { isOnline: false, isAnswering: true }, 'offline'],
    ['waits for the answer to end', { isAnswering: true }, 'answer'],
  ] as const)
    it(what, () => {
      const sending = sendingOf({ ...ready, ...state });
      assert.equal(sending, outcome);
      if (sending !== 'send' && sending !== 'nothing') assert.match(WAITING_WORDS[sending], /^Kept: it is sent/);
    });
});
