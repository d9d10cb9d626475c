// A question for which Enter was pressed too early: it goes as soon as it can.
import { useEffect, useState } from 'react';
import { type Sending, WAITING_WORDS } from './send-action.ts';

interface WaitingQuestion {
  /** What the reader is told meanwhile; null where nothing waits. */
  readonly words: string | null;
  /** Enter: sends, or begins to wait. */
  readonly send: () => void;
  /** The reader writes on, or goes elsewhere. */
  readonly cancel: () => void;
}

export function useWaitingQuestion(sending: Sending, ask: () => void): WaitingQuestion {
  const [isWaiting, setWaiting] = useState(false);
  const canGo = isWaiting && sending === 'send';
  // biome-ignore lint/correctness/useExhaustiveDependencies: that it can go now is the reason
  useEffect(() => {
    if (!canGo) return;
    setWaiting(false);
    ask();
  }, [canGo]);
  return {
    words: isWaiting && sending !== 'send' && sending !== 'nothing' ? WAITING_WORDS[sending] : null,
    send: () => {
      if (sending === 'send') ask();
      else if (sending !== 'nothing') setWaiting(true);
    },
    cancel: () => setWaiting(false),
  };
}
