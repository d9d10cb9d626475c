// The public interface of @strata/limits.
export { FairSlots } from './fair-slots.ts';
export { forgetOldest } from './forget-oldest.ts';
export { type LimitedName, RateLimiter } from './rate-limiter.ts';
export { KeyedSemaphore, Semaphore } from './semaphore.ts';
