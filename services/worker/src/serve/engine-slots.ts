// The slots of the engine, and the queue for them, shared fairly between gateways.
import { FairSlots } from '@strata/limits';
import { RequestFailure } from './failure.ts';

/** A free slot is assigned to the gateway that holds the fewest; another worker may have capacity for a refused request. */
export const openEngineSlots = (
  bounds: { readonly slots: number; readonly queue: number },
  onChange: () => void = () => {},
): FairSlots =>
  new FairSlots({
    ...{ ...bounds, order: 'fewest-held', onChange },
    refusal: (reason) =>
      new RequestFailure(
        'busy',
        reason === 'full'
          ? 'no slot is free, and the queue is full'
          : 'the queue is full, and other gateways are waiting',
      ),
  });
