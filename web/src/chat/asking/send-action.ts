// What Enter does with a question: it is sent, or kept with a word on what it waits for. It is never lost.

/** What is known of the models: the service is asked again every few seconds. */
export type ModelsState = 'loading' | 'known' | 'none' | 'failed' | 'refused';

export interface SendingState {
  readonly text: string;
  readonly isOnline: boolean;
  readonly hasKey: boolean;
  readonly models: ModelsState;
  readonly isAnswering: boolean;
}

/** `nothing` where there are no words; `send` now; all others wait. */
export type Sending = 'nothing' | 'send' | 'key' | 'offline' | 'answer' | 'models' | 'service';

export function sendingOf({ text, isOnline, hasKey, models, isAnswering }: SendingState): Sending {
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

/** What a reader who pressed Enter is told. */
export const WAITING_WORDS: Readonly<Record<Exclude<Sending, 'nothing' | 'send'>, string>> = {
  key: 'Kept: it is sent as soon as there is a key that is known here.',
  offline: 'Kept: it is sent when you are online again.',
  answer: 'Kept: it is sent when this answer is over.',
  models: 'Kept: it is sent as soon as the models are known.',
  service: 'Kept: it is sent as soon as a model is there to answer.',
};
