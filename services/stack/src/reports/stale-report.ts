// The API representation of values that only an earlier scan could measure.
import { FACTORS } from '@strata/detect';
import { z } from 'zod';
import type { StoredProfile } from '../store/index.ts';

const Time = z.iso.datetime();

export const StaleRolesSchema = z
  .array(z.object({ role: z.string(), measured_at: Time }))
  .describe('Roles that the last scan could not measure, and when an earlier one did.');

export const StalePartsSchema = z
  .array(z.object({ part: z.enum(FACTORS), measured_at: Time }))
  .describe('Parts that the last scan could not measure, and when an earlier one did. The score uses them.');

export const staleRoles = ({ stale }: Pick<StoredProfile, 'stale'>): z.input<typeof StaleRolesSchema> =>
  Object.entries(stale?.roles ?? {}).map(([role, measured_at]) => ({ measured_at, role }));

export const staleParts = ({ stale }: Pick<StoredProfile, 'stale'>): z.input<typeof StalePartsSchema> =>
  FACTORS.flatMap((part) => {
    const measured_at = stale?.security[part];
    return measured_at === undefined ? [] : [{ measured_at, part }];
  });
