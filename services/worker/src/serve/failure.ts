// Failures as reported to gateways: a code of the protocol and our own message, never that of a library.
import { EngineError } from '@strata/engine';
import type { FailureCode } from '@strata/inference';

export class RequestFailure extends Error {
  override readonly name = 'RequestFailure';
  readonly code: FailureCode;

  constructor(code: FailureCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Unknown errors are reported as engine failures, so that the gateway continues on another worker. */
export function failureOf(error: unknown): RequestFailure {
  if (error instanceof RequestFailure) return error;
  if (error instanceof EngineError)
    switch (error.code) {
      case 'grammar-unusable':
        return new RequestFailure('grammar-unusable', 'the grammar cannot be parsed');
      case 'unsupported':
        return new RequestFailure('unusable', error.message);
      case 'prompt-empty':
      case 'job-too-long':
        return new RequestFailure('unusable', 'the prompt is empty or longer than the context');
      case 'not-loaded':
      case 'vectors-too-large':
        return new RequestFailure('busy', 'the model is not loaded, and cannot be at present');
      default:
    }
  return new RequestFailure('engine-failed', 'the engine failed');
}
