// What whoever runs the worker hears of it.
import type { LentModel } from './contributed-model.ts';

export type WorkerEvent =
  | {
      readonly kind: 'started';
      readonly peer: string;
      readonly model: LentModel;
      readonly addresses: readonly string[];
    }
  | { readonly kind: 'joined'; readonly target: string; readonly peers: readonly string[] }
  | { readonly kind: 'not-joined'; readonly target: string; readonly reason: string }
  | { readonly kind: 'serving'; readonly gateway: string }
  | { readonly kind: 'left'; readonly gateway: string }
  /** It refuses what it is asked, and offers nothing; undefined: it serves again. */
  | { readonly kind: 'refusing'; readonly reason: string | undefined }
  /** No gateway takes it, though it has been looking for a while. */
  | { readonly kind: 'alone'; readonly connected: number };
