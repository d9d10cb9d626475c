// A banner on every page while the service cannot be reached.
import { useConnection } from '../answer/connection.ts';

export function ConnectionBar() {
  const connection = useConnection();
  return (
    <div role="status" className={connection === 'online' ? undefined : 'connection'}>
      {connection === 'offline' &&
        'You are offline. Loaded data stays visible; missing data is requested when you are online again.'}
      {connection === 'unreachable' &&
        'The service does not respond. Loaded data stays visible; this page retries every few seconds.'}
    </div>
  );
}
