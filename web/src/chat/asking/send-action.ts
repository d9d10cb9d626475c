// What Enter does with a question: it is sent, or queued with the reason why and sent as soon as possible. It is never lost.
import { useEffect, useState } from 'react';

/** The state of the model list, which is polled every few seconds. */
export type ModelsState = 'loading' | 'known' | 'none' | 'failed' | 'refused';

export interface SendConditions {
  readonly text: string;
  readonly isOnline: boolean;
  readonly hasKey: boolean;
  readonly models: ModelsState;
  readonly isAnswering: boolean;
}

/** `nothing`: the text is empty; `send`: now; every other value: wait. */
export type SendAction = 'nothing' | 'send' | 'key' | 'offline' | 'answer' | 'models' | 'service';

export function sendActionOf({ text, isOnline, hasKey, models, isAnswering }: SendConditions): SendAction {
  if (text.trim() === '') return 'nothing';
  if (!hasKey || models === 'refused') return 'key';
  if (!isOnline) return 'offline';
  if (isAnswering) return 'answer';
  switch (models) {
    case 'known':
      return 'send';
    case 'loading':
      return 'models';
    case 'none':
    case 'failed':
      return 'service';
    default:
      return models satisfies never;
  }
}

/** Shown while a submitted question waits. */
export const WAITING_MESSAGES: Readonly<Record<Exclude<SendAction, 'nothing' | 'send'>, string>> = {
  key: 'Queued: sent as soon as you set a valid API key.',
  offline: 'Queued: sent when you are online again.',
  answer: 'Queued: sent when this answer is complete.',
  models: 'Queued: sent as soon as the models are loaded.',
  service: 'Queued: sent as soon as a model is available.',
};

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
