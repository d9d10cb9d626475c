// What a worker does for a request, as a span of the gateway; the worker's own spans hang below it.
import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';

const tracer = trace.getTracer('strata-gateway');

export interface TracedWork {
  /** What the request tells the worker of it; nothing where no traces are kept. */
  readonly field: { readonly traceparent?: string };
  /** The same events; the span ends with them. */
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
