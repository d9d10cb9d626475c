// Query parameters of paged lists, the same everywhere.
import { z } from 'zod';

/** A whole number in plain digits: `0x10`, `1e3`, blanks and an empty value are refused, not guessed at. */
export const WholeNumber = (bounds: { readonly min: number; readonly max: number }) =>
  z
    .string()
    .regex(/^-?\d{1,15}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.int().min(bounds.min).max(bounds.max));

export const Limit = WholeNumber({ min: 1, max: 1_000 });
export const Offset = WholeNumber({ min: 0, max: 1_000_000 });
