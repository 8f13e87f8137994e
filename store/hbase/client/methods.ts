// The remote methods that the client calls.

import type { DescMessage } from '@bufbuild/protobuf';
import {
  AcknowledgementSchema,
  AssignRegionRequestSchema,
  CompactRegionRequestSchema,
  CreateTableRequestSchema,
  DeleteTableRequestSchema,
  DisableTableRequestSchema,
  FlushRegionRequestSchema,
  GetProcedureResultRequestSchema,
  GetProcedureResultResponseSchema,
  GetTableDescriptorsRequestSchema,
  GetTableDescriptorsResponseSchema,
  ProcedureResponseSchema,
  SplitTableRegionRequestSchema,
  UnassignRegionRequestSchema,
} from '../../../proto/gen/hbase/admin_pb.js';
import {
  GetRequestSchema,
  GetResponseSchema,
  MultiRequestSchema,
  MultiResponseSchema,
  ScanRequestSchema,
  ScanResponseSchema,
} from '../../../proto/gen/hbase/client_pb.js';
import {
  GetActiveMasterRequestSchema,
  GetActiveMasterResponseSchema,
  GetMetaRegionLocationsRequestSchema,
  GetMetaRegionLocationsResponseSchema,
} from '../../../proto/gen/hbase/region_pb.js';

/** A connection serves one of these. */
export type Service = 'ClientService' | 'ClientMetaService' | 'MasterService' | 'AdminService';

export interface Method<I extends DescMessage, O extends DescMessage> {
  readonly service: Service;
  readonly name: string;
  readonly input: I;
  readonly output: O;
}

function method<I extends DescMessage, O extends DescMessage>(
  service: Service,
  name: string,
  input: I,
  output: O,
): Method<I, O> {
  return { service, name, input, output };
}

export const get = method('ClientService', 'Get', GetRequestSchema, GetResponseSchema);
export const multi = method('ClientService', 'Multi', MultiRequestSchema, MultiResponseSchema);
export const scan = method('ClientService', 'Scan', ScanRequestSchema, ScanResponseSchema);

export const getActiveMaster = method(
  'ClientMetaService',
  'GetActiveMaster',
  GetActiveMasterRequestSchema,
  GetActiveMasterResponseSchema,
);
export const getMetaRegionLocations = method(
  'ClientMetaService',
  'GetMetaRegionLocations',
  GetMetaRegionLocationsRequestSchema,
  GetMetaRegionLocationsResponseSchema,
);

export const createTable = method('MasterService', 'CreateTable', CreateTableRequestSchema, ProcedureResponseSchema);
export const disableTable = method('MasterService', 'DisableTable', DisableTableRequestSchema, ProcedureResponseSchema);
export const deleteTable = method('MasterService', 'DeleteTable', DeleteTableRequestSchema, ProcedureResponseSchema);
export const splitRegion = method(
  'MasterService',
  'SplitRegion',
  SplitTableRegionRequestSchema,
  ProcedureResponseSchema,
);
export const getProcedureResult = method(
  'MasterService',
  'getProcedureResult',
  GetProcedureResultRequestSchema,
  GetProcedureResultResponseSchema,
);
export const getTableDescriptors = method(
  'MasterService',
  'GetTableDescriptors',
  GetTableDescriptorsRequestSchema,
  GetTableDescriptorsResponseSchema,
);
export const assignRegion = method('MasterService', 'AssignRegion', AssignRegionRequestSchema, AcknowledgementSchema);
export const unassignRegion = method(
  'MasterService',
  'UnassignRegion',
  UnassignRegionRequestSchema,
  AcknowledgementSchema,
);
export const flushRegion = method('AdminService', 'FlushRegion', FlushRegionRequestSchema, AcknowledgementSchema);
export const compactRegion = method('AdminService', 'CompactRegion', CompactRegionRequestSchema, AcknowledgementSchema);
