// The conversation store and answer runner of this page, with their React hooks.
import { useSyncExternalStore } from 'react';
import { AnswerRunner } from '../asking/answer-runner.ts';
import { client } from '../inference.ts';
import type { Conversation } from './conversation.ts';
import { ConversationStore } from './conversation-store.ts';

/** Interval of this page's heartbeat, and of the search for answers of closed pages. */
const HEARTBEAT_MS = 5_000;

function browserStorage(): Storage | undefined {
  try {
    return localStorage;
  } catch {
    return undefined;
  }
}

export const store = new ConversationStore(browserStorage(), Date.now());
export const answerRunner = new AnswerRunner({
  store,
  client,
  now: Date.now,
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
});

addEventListener('storage', ({ key, newValue }) => store.onStorageEvent(key, newValue));
addEventListener('pagehide', () => answerRunner.stopAll());
// A page restored from the back/forward cache has missed storage events.
addEventListener('pageshow', ({ persisted }) => persisted && store.refresh(Date.now()));
setInterval(() => {
  answerRunner.heartbeat();
  store.settle(Date.now());
}, HEARTBEAT_MS);

export function useConversations(): readonly Conversation[] {
  return useSyncExternalStore(store.subscribe, store.all);
}

/** False if storage is full or disabled. */
export function useIsPersisted(): boolean {
  return useSyncExternalStore(store.subscribe, store.isPersisted);
}
