// The public interface of @strata/limits.
export { FairSlots, type FairSlotsOptions, type RefusalReason } from './fair-slots.ts';
export { forgetOldest } from './forget-oldest.ts';
export { type LimitedName, RateLimiter, type RateLimiterOptions } from './rate-limiter.ts';
export { KeyedSemaphore, Semaphore } from './semaphore.ts';
