import { randomUUID } from 'node:crypto';
import { ManualClock } from '../../../platform/clock/manual-clock.ts';
import { ZooKeeperConfiguration } from '../../../platform/coordination/zookeeper/zookeeper-configuration.ts';
import { ZooKeeperEndpointDirectory } from '../../../platform/coordination/zookeeper/zookeeper-endpoint-directory.ts';
import { ZooKeeperMembership } from '../../../platform/coordination/zookeeper/zookeeper-membership.ts';
import {
  configurationContract,
  endpointDirectoryContract,
  membershipContract,
} from '../../contract/coordination.contract.ts';
import { noProblem, openSession, removeTree, until } from './fixture.ts';

membershipContract('zookeeper', 'gone since the view began', async () => {
  // Time that the test owns: what is in the tree is real.
  const clock = new ManualClock();
  const session = openSession({ clock, sessionTimeoutMs: 20_000 });
  const subject = new ZooKeeperMembership(session, noProblem);
  await until('the view begins', () => subject.isCurrent);
  return {
    subject,
    pass: (durationMs) => clock.advance(durationMs),
    close: async () => {
      subject.close();
      await removeTree(session);
    },
  };
});

endpointDirectoryContract('zookeeper', () => {
  const session = openSession({});
  const subject = new ZooKeeperEndpointDirectory(session, noProblem);
  return {
    subject,
    close: async () => {
      subject.close();
      await removeTree(session);
    },
  };
});

configurationContract('zookeeper', () => {
  const session = openSession({});
  const subject = new ZooKeeperConfiguration({ session, newId: randomUUID, onProblem: noProblem });
  return {
    subject,
    close: async () => {
      await subject.close();
      await removeTree(session);
    },
  };
});
