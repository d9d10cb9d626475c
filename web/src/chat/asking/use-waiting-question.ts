// A question submitted before it can be sent: it is sent as soon as possible.
import { useEffect, useState } from 'react';
import { type SendAction, WAITING_MESSAGES } from './send-action.ts';

interface WaitingQuestion {
  /** Shown while the question waits; null if no question waits. */
  readonly message: string | null;
  /** Sends the question, or queues it. */
  readonly send: () => void;
  /** The user edits the question or opens another conversation. */
  readonly cancel: () => void;
}

export function useWaitingQuestion(action: SendAction, ask: () => void): WaitingQuestion {
  const [isWaiting, setWaiting] = useState(false);
  const canSend = isWaiting && action === 'send';
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the question can be sent
  useEffect(() => {
    if (!canSend) return;
    setWaiting(false);
    ask();
  }, [canSend]);
  return {
    message: isWaiting && action !== 'send' && action !== 'nothing' ? WAITING_MESSAGES[action] : null,
    send: () => {
      if (action === 'send') ask();
      else if (action !== 'nothing') setWaiting(true);
    },
    cancel: () => setWaiting(false),
  };
}
