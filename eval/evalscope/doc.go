// Package evalscope reads and writes EvalScope's own files, byte for byte:
// predictions, reviews, reports, and where they lie. Version 1.4.2 is written;
// 1.14.1's rows are read as well. It never touches the network.
//
// What differs from the real tool, on purpose:
//
//   - rows stand in index order; the real order changes from run to run;
//   - message ids are derived from the item, not drawn at random;
//   - tool calls and log probabilities in a reply are written as null;
//   - a failed request has a row with an empty reply and its cause under
//     model_output.error; 1.4.2 has no row and a smaller denominator;
//   - task_config has no paths of the machine: work_dir is ".", dataset_dir is
//     left null, and the six digits of its name come from our own bytes.
package evalscope

// Version is the EvalScope version whose files are written.
const Version = "1.4.2"
