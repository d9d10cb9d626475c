// The one store of this page, the answers that are written into it, and what React sees of both.
import { useSyncExternalStore } from 'react';
import { Answering } from '../asking/answer-runner.ts';
import { client } from '../inference.ts';
import type { Conversation } from './conversation.ts';
import { ConversationStore } from './conversation-store.ts';

/** So often this page tells that it lives, and looks for answers of pages that ended without a word. */
const ALIVE_MS = 5_000;

function keeper(): Storage | undefined {
  try {
    return localStorage;
  } catch {
    return undefined;
  }
}

export const store = new ConversationStore(keeper(), Date.now());
export const answering = new Answering({
  store,
  client,
  now: Date.now,
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
});

addEventListener('storage', ({ key, newValue }) => store.heard(key, newValue));
addEventListener('pagehide', () => answering.stopAll());
// A page that the browser kept aside has heard nothing meanwhile.
addEventListener('pageshow', ({ persisted }) => persisted && store.refresh(Date.now()));
setInterval(() => {
  answering.tellAlive();
  store.settle(Date.now());
}, ALIVE_MS);

export function useConversations(): readonly Conversation[] {
  return useSyncExternalStore(store.subscribe, store.all);
}

/** False where the browser has no room, or keeps nothing. */
export function useIsKept(): boolean {
  return useSyncExternalStore(store.subscribe, store.isKept);
}
