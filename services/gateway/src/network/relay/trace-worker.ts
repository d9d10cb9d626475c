// Traces a request to a worker as a span of the gateway; the worker's spans are its children.
import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';

const tracer = trace.getTracer('strata-gateway');

export interface WorkerSpan {
  /** The trace context for the request frame; empty if tracing is off. */
  readonly field: { readonly traceparent?: string };
  /** `error`: why the request failed, if it did. */
  end(error?: unknown): void;
}

/** Begins a span, which whatever `start` returns must end; if it throws, the span ends with its error. */
export function startInSpan<Value>(worker: string, start: (span: WorkerSpan) => Value): Value {
  const span = beginWorkerSpan(worker);
  try {
    return start(span);
  } catch (error) {
    span.end(error);
    throw error;
  }
}

function beginWorkerSpan(worker: string): WorkerSpan {
  const span = tracer.startSpan('worker', { kind: SpanKind.CLIENT, attributes: { 'strata.worker': worker } });
  if (!span.isRecording()) return { field: {}, end: () => {} };
  const carrier: { traceparent?: string } = {};
  propagation.inject(trace.setSpan(context.active(), span), carrier);
  return {
    field: carrier.traceparent === undefined ? {} : { traceparent: carrier.traceparent },
    end: (error) => {
      if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: (error as Error).name });
      span.end();
    },
  };
}
