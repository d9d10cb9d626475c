// Traces a request to a worker as a span of the gateway; the worker's spans are its children.
import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';

const tracer = trace.getTracer('strata-gateway');

export interface TracedWork {
  /** The trace context for the request frame; empty if tracing is off. */
  readonly field: { readonly traceparent?: string };
  /** Passes the events through; the span ends with them. */
  until<Event>(events: AsyncIterableIterator<Event>): AsyncIterator<Event>;
}

export function beginTraced(worker: string): TracedWork {
  const span = tracer.startSpan('worker', { kind: SpanKind.CLIENT, attributes: { 'strata.worker': worker } });
  if (!span.isRecording()) return { field: {}, until: (events) => events };
  const carrier: { traceparent?: string } = {};
  propagation.inject(trace.setSpan(context.active(), span), carrier);
  return { field: carrier.traceparent === undefined ? {} : { traceparent: carrier.traceparent }, until };

  function until<Event>(events: AsyncIterableIterator<Event>): AsyncIterator<Event> {
    const ending = async (step: Promise<IteratorResult<Event>>): Promise<IteratorResult<Event>> => {
      try {
        const result = await step;
        if (result.done) span.end();
        return result;
      } catch (error) {
        span.setStatus({ code: SpanStatusCode.ERROR, message: (error as Error).name });
        span.end();
        throw error;
      }
    };
    return {
      next: () => ending(events.next()),
      return: (value: unknown) => ending(events.return?.(value) ?? Promise.resolve({ done: true, value })),
    };
  }
}
