// Says that there is no connection, on every page and for as long as it lasts.
import { useConnection } from '../answer/connection.ts';

export function ConnectionBar() {
  const connection = useConnection();
  return (
    <div role="status" className={connection === 'good' ? undefined : 'connection'}>
      {connection === 'offline' &&
        'You are offline. What is open stays as it was; the rest is asked for when you are back.'}
      {connection === 'silent' &&
        'The service does not answer. What is open stays as it was; it is tried again every few seconds.'}
    </div>
  );
}
