//! Results of OpenCV.
